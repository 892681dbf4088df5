"""One target under libFuzzer: python -m proof.fuzzing.one_target NAME [libFuzzer's options and folders]."""

import sys

import atheris

with atheris.instrument_imports(include=["election_core", "jobs"]):
    from proof.fuzzing.targets import targets, try_one


def main(name: str, options: list[str]) -> None:
    """Fuzz in this process, which ends with it."""
    target = next(target for target in targets() if target.name == name)
    atheris.Setup([sys.argv[0], *options], lambda data: try_one(target, data))
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])

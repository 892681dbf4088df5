"""What to do next: three checks and one warning for each rule, by the system at hand and the cause."""

from election_replay.election_core.model.next_steps.anywhere import ANYWHERE_STEPS
from election_replay.election_core.model.next_steps.etcd import ETCD_STEPS
from election_replay.election_core.model.next_steps.kafka import KAFKA_STEPS
from election_replay.election_core.model.next_steps.redis import REDIS_STEPS
from election_replay.election_core.model.next_steps.rocketmq import ROCKETMQ_STEPS
from election_replay.election_core.model.next_steps.steps import ANY, CAUSES, SYSTEMS, Check, NextSteps
from election_replay.election_core.model.next_steps.zookeeper import ZOOKEEPER_STEPS

__all__ = ["ANY", "CAUSES", "NEXT_STEPS", "SYSTEMS", "Check", "NextSteps", "steps_for"]

NEXT_STEPS: tuple[NextSteps, ...] = (
    *(*ROCKETMQ_STEPS, *ETCD_STEPS, *ZOOKEEPER_STEPS),
    *(*KAFKA_STEPS, *REDIS_STEPS, *ANYWHERE_STEPS),
)
"""All of them; of one rule, system and cause there is one."""

_BY_KEY = {(steps.rule.value, steps.system, steps.cause): steps for steps in NEXT_STEPS}


def steps_for(rule: str, system: str, cause: str = ANY) -> NextSteps | None:
    """The steps that fit best: those of the system before those for any, and of the cause before those for any."""
    keys = ((system, cause), (system, ANY), (ANY, cause), (ANY, ANY))
    return next((found for key in keys if (found := _BY_KEY.get((rule, *key)))), None)

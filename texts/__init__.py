"""What every release of a system can print, held against the dialects' tables.

``make texts`` fetches the source archives of the releases that :mod:`texts.releases` names, extracts their log
statements, writes the facts to ``texts/facts/`` and the comparison to ``docs/releases.md``. The tests compare from the
facts, without network and without a parser of Java or Go.
"""

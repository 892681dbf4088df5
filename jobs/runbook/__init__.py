"""Prose for readers: the meaning of each rule, next steps for its findings, and sentences for lines without a rule.

``rules.yaml`` is the catalogue; ``rocketmq.yaml`` and its like are the steps for one system, with the commands of
``commands.yaml``; ``notices`` are sentences for lines that no rule judges.
"""

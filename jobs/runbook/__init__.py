"""What each rule means, what to do about its findings, and what a story tells beside them: prose for readers.

``rules.yaml`` is the catalogue; ``rocketmq.yaml`` and its like are the steps of one system, with the commands of
``commands.yaml``; ``notices`` are sentences for lines that no rule judges.
"""

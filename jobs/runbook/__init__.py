"""What each rule means and what to do about its findings: prose for operators, in YAML.

``rules.yaml`` is the catalogue; ``rocketmq.yaml`` and its like are the steps of one system, with the commands of
``commands.yaml``.
"""

"""RocketMQ: brokers, controllers, name servers and DLedger, as they print; one file a part of the system."""

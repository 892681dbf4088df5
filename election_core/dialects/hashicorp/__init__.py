"""HashiCorp's Raft library, in Consul, Nomad and Vault: one table."""

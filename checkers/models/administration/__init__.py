"""Models of a cluster's administration: access control, credentials, delegation tokens, quotas."""

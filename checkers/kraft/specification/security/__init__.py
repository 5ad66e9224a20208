"""Judge who may do what, and the changes of access control entries."""

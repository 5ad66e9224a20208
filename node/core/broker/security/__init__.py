"""Answer the requests about logins, credentials and tokens that a broker decides itself."""

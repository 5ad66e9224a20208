"""Rules for the logs of Kafka's controllers: shared batches, and records of their own."""

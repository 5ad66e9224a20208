"""How fast the simulation is: simulated seconds, events and committed operations a CPU-second.

`python -m bench.simulation` runs 3+3 whole nodes at the chaos time-outs, with heartbeats, faults
drawn from each seed and every invariant on, while clients create 20 and then 200 topics a second,
and then replace 20 topics and produce 100 records a second to partitions of three replicas;
beside it, in turns, Kafka's own simulation of Raft (RaftEventSimulationTest, from Maven Central);
shows where the time goes; and runs one hour of virtual time to see what memory does. It prints the
page docs/benchmarks/simulation.md.
"""

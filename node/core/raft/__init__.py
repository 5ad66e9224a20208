"""Replicate the metadata log by KRaft, the Raft protocol of Kafka (KIP-595, KIP-630).

Read this chapter before the code. The quotation marks name sections of the KIPs. Numbers such as
595-22 name requirements in docs/requirements.tsv.

Log and quorum
    The controllers replicate one log, __cluster_metadata-0, whose records are the metadata of the
    cluster. A fixed set of nodes, the voters, decides about the log; KIP-853 is not implemented.
    Brokers are observers: they copy the log without a vote ("Key Concepts").

    Time is divided into epochs, and an epoch has at most one leader. Only the leader appends, and
    each batch carries the leader's epoch. Two logs that agree on the epoch of an offset are equal
    up to that offset: the log matching property of Raft.

    A voter persists the newest epoch known, its vote in the epoch and the epoch's leader. The file
    is written before any message that depends on the new state ("Quorum State"; 595-07).

Elections
    A voter without a live leader becomes a candidate at its election deadline: it enters the next
    epoch, votes for itself and sends Vote to the other voters ("Vote"). A voter grants one vote an
    epoch, and only to a candidate whose log is as up to date as its own log (595-22). A majority
    of votes makes a leader. Random deadlines and a random backoff after a lost election prevent
    repeated split votes ("Gridlocked Elections"; 595-14). There is no PreVote (KIP-996).

    The new leader appends a LeaderChange record and sends BeginQuorumEpoch until each voter has
    endorsed the leadership or fetched ("BeginQuorumEpoch"; 595-33). A leader that stops sends
    EndQuorumEpoch with the best successors, so that no voter waits for a time-out
    ("EndQuorumEpoch"; 595-38).

Replication by Fetch
    Raft's leaders push. In KRaft the replicas pull: a Fetch names the end offset of the replica's
    log and the epoch of the last record ("Fetch"; 595-45 to 53).

    - If the leader's log does not continue from this point, the answer names the diverging epoch,
      and the replica truncates its log to the common prefix.
    - If the leader has no newer records, the answer waits for news, a long poll.
    - A voter's Fetch from offset N acknowledges that the records below N are flushed on its disk.

    Every answer names the leader and the epoch known to the sender. A node without a leader asks
    random voters by Fetch until an answer names the leader ("Current Leader Discovery"; 595-55).

High watermark
    The high watermark is the offset below which every record is committed: the largest offset that
    a majority of voters has flushed. The leader advances the high watermark only over a record of
    the leader's own epoch, first the LeaderChange ("Extra condition on commitment"; 595-27). Before
    that, a record of an older epoch can still be lost, even if a majority holds a copy.
    Followers learn the high watermark from the answers to their Fetches.

Check quorum
    A leader that is cut off must not answer clients for ever. If the leader and the voters that
    fetched within controller.quorum.fetch.timeout.ms are no majority, the leader resigns ("Leader
    Progress Timeout"; 595-43). A resigned voter never leads or votes in the same epoch again. A
    restarted leader is resigned, too, since unflushed records of its epoch may be lost.

Snapshots
    A node replaces the beginning of its log by a snapshot of the image at a committed offset
    (KIP-630 "Snapshots"). A replica whose Fetch needs records below the start of the leader's log
    is referred to the newest snapshot. The replica downloads the snapshot by FetchSnapshot, checks
    the file, and replaces its own log ("FetchSnapshot"; 631-34).

Roles
    A node has one of seven roles. The table is the value TRANSITIONS in roles.py: each change of
    role is asserted against the table, and a test compares it with this text.

    from                             event                         to
    any voter                        newer epoch, leader unknown   unattached
    any voter                        leader of the epoch known     follower
    any voter                        vote given                    voted
    any voter                        named as the epoch's leader   resigned
    any voter but leader, candidate  deadline, or first successor  candidate
    candidate                        majority of votes             leader
    candidate                        votes refused, or time-out    voted
    leader                           no majority fetches, or stop  resigned
    observer                         newer epoch, or leader known  observer

Reading order
    1. quorum.py, replicas.py: majorities, and the progress of each replica.
    2. roles.py, election_timing.py, peer_retries.py: roles, deadlines, repeated requests.
    3. state.py: the shared state, changed only by the transitions.
    4. elections.py, announcements.py, rpc.py: Vote, BeginQuorumEpoch, EndQuorumEpoch.
    5. serving.py, progress.py, stated.py: the leader's side of Fetch, the high watermark.
    6. fetching.py, fetch_rpc.py: the replica's side of Fetch, leader discovery.
    7. snapshots/, served_download.py: snapshots.
    8. describe.py: DescribeQuorum.
    9. raft.py: the composition of the parts, and the interface to the rest of the node.
"""

------------------------------ MODULE EtcdTrace ------------------------------
(* Is what the members of an etcd cluster logged a behaviour of Raft's elections (Ongaro, Ousterhout 2014, section 5.2)?
   Each member's lines come in its own order; TLC looks for an order of all of them, so that no clock is believed.
   Logs: the lines of each member, Members: all of them; both are written by the program that reads the logs. *)
EXTENDS Naturals, Sequences, FiniteSets, Lines

VARIABLES line, term, vote, role, votes, leaders
(* line: how many lines of a member are explained; votes: who voted for whom in which term; leaders: who won which term *)
vars == <<line, term, vote, role, votes, leaders>>

Init == /\ line = [m \in Members |-> 0]
        /\ term = [m \in Members |-> 0]
        /\ vote = [m \in Members |-> "nobody"]
        /\ role = [m \in Members |-> "follower"]
        /\ votes = {}
        /\ leaders = {}

NextLine(m) == Logs[m][line[m] + 1]
Voters(t, m) == {voter \in Members : <<t, voter, m>> \in votes}

Follows(m, e) == /\ e.says \in {"follower", "start"}
                 /\ IF e.says = "follower" THEN e.term >= term[m] ELSE TRUE
                 /\ term' = IF e.says = "follower" THEN [term EXCEPT ![m] = e.term] ELSE term
                 /\ vote' = IF e.says = "follower" /\ e.term > term[m] THEN [vote EXCEPT ![m] = "nobody"] ELSE vote
                 /\ role' = [role EXCEPT ![m] = "follower"]
                 /\ UNCHANGED <<votes, leaders>>

Stands(m, e) == /\ e.says = "candidate"
                /\ e.term = term[m] + 1
                /\ term' = [term EXCEPT ![m] = e.term]
                /\ vote' = [vote EXCEPT ![m] = m]
                /\ role' = [role EXCEPT ![m] = "candidate"]
                /\ votes' = votes \union {<<e.term, m, m>>}
                /\ UNCHANGED leaders

Votes(m, e) == /\ e.says = "vote"
               /\ e.term >= term[m]
               /\ e.term = term[m] => vote[m] \in {"nobody", e.for}
               /\ <<e.term, e.for, e.for>> \in votes \* the candidate asked before it was answered
               /\ term' = [term EXCEPT ![m] = e.term]
               /\ vote' = [vote EXCEPT ![m] = e.for]
               /\ votes' = votes \union {<<e.term, m, e.for>>}
               /\ UNCHANGED <<role, leaders>>

Wins(m, e) == /\ e.says = "leader"
              /\ role[m] = "candidate"
              /\ e.term = term[m]
              /\ 2 * Cardinality(Voters(e.term, m)) > Cardinality(Members)
              /\ role' = [role EXCEPT ![m] = "leader"]
              /\ leaders' = leaders \union {<<e.term, m>>}
              /\ UNCHANGED <<term, vote, votes>>

Explained(m) == /\ line[m] < Len(Logs[m])
                /\ line' = [line EXCEPT ![m] = @ + 1]
                /\ LET e == NextLine(m) IN Follows(m, e) \/ Stands(m, e) \/ Votes(m, e) \/ Wins(m, e)

Next == \E m \in Members : Explained(m)
Spec == Init /\ [][Next]_vars

(* TLC shows a behaviour that breaks this: there is one that explains all lines. *)
NotAllExplained == \E m \in Members : line[m] < Len(Logs[m])
OneLeaderOfATerm == \A one, other \in leaders : one[1] = other[1] => one[2] = other[2]
=============================================================================

// Package enginetest proves the kinds, for tests only. It has two ways.
//
// A story (Run) is a text file that says what happens to an event and its
// ticket types, one sentence a line, and what comes of each: every kind keeps
// its stories in testdata.
//
// The simulator (Simulate) runs the kinds and the order protocol in a world
// drawn from a seed, with all that can go wrong between them, and judges every
// step against the journal. sim.go is its clock and its faults, sim_node.go what
// the host does in production (cluster/host), sim_store.go the journal,
// sim_net.go the network; sim_work.go, sim_seats.go, sim_cash.go buyers, shoppers
// of seats, gates, organizers and payment providers; sim_truth.go, sim_stock.go
// and sim_hall.go the judge; sim_heal.go what must hold when all faults are over;
// sim_bugs.go and sim_bugs_seats.go the faults that it has to find.
package enginetest

package api

// Drained says how far a node has handed its actors over.
type Drained struct {
	Status  string `json:"status" enum:"draining,drained"`
	Actors  int    `json:"actors" description:"that are still on this node; alone, it keeps them"`
	Members int    `json:"members" description:"nodes in the cluster, this one among them"`
}

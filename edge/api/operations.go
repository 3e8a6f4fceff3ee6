package api

// Drained says how far a node that is about to stop has handed its actors over to other nodes.
type Drained struct {
	Status  string `json:"status" enum:"draining,drained" description:"drained: other nodes have its actors, if there are any; draining: it needs longer, so ask again."`
	Actors  int    `json:"actors" description:"Actors that are still on this node; one that is alone keeps them."`
	Members int    `json:"members" description:"Nodes in the cluster, this one among them."`
}

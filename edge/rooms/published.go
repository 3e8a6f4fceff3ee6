package rooms

import (
	"encoding/base64"
	"encoding/hex"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/engine/draw"
	"boxoffice/engine/queue"
)

// findDraw returns the number of the event with an id, or a refusal if the event never had a waiting room.
func (h *Handlers) findDraw(c *route.Call, id string) (int64, error) {
	number, _, err := h.Pages.FindVisible(c, h.Known, id)
	if err != nil {
		return 0, err
	}
	if h.hasRoom(number) {
		return number, nil
	}
	// A room that has ended is only in the table. Its draw can still be checked.
	if _, found, err := h.Rooms.Find(c.Context, number); err != nil || !found {
		return 0, orNoRoom(err)
	}
	return number, nil
}

// getDraw shows the document by which anybody can check the last draw. There is none before the
// list is closed.
func (h *Handlers) getDraw(c *route.Call, in *api.WatchQueue) (*api.DrawDocument, error) {
	number, err := h.findDraw(c, in.EventID)
	if err != nil {
		return nil, err
	}
	r, err := h.readRoom(c.Context, number)
	if err != nil {
		return nil, err
	}
	if r.Statement == nil {
		return nil, &engine.Refusal{Code: engine.NotFound, Message: "The statement of the draw is published when its list is closed."}
	}
	return h.documentView(r), nil
}

// documentView shows the document of a draw that has a statement. Beacon and witness are added once
// they are known.
func (h *Handlers) documentView(r *room) *api.DrawDocument {
	s, key := r.Statement, h.Secrets.DrawKey()
	v := &api.DrawDocument{
		Statement: api.DrawStatement{
			Event: s.Event, Draw: int64(s.Draw), Rules: *rulesView(&s.Rules), Count: int64(s.Count), Root: s.Root.String(), TestBeacon: s.TestBeacon,
			ByClass: api.DrawCounts{
				Account: int64(s.ByClass[draw.ClassAccount]), Address: int64(s.ByClass[draw.ClassAddress]), None: int64(s.ByClass[draw.ClassNone]),
			},
		},
		Signer: hex.EncodeToString(key[len(key)-32:]), Signature: hex.EncodeToString(draw.SignStatement(key, s)),
	}
	if r.Signature != nil {
		text := hex.EncodeToString(r.Signature)
		v.Beacon = &text
	}
	if r.token != nil {
		text := base64.StdEncoding.EncodeToString(r.token)
		v.Witness = &text
	}
	return v
}

// rulesView shows the rules of a draw. The statement is signed over these rules, so they are shown
// exactly as they are.
func rulesView(r *draw.Rules) *api.DrawRules {
	return &api.DrawRules{
		BeaconChain: r.Chain.String(), BeaconRound: int64(r.Round), ClosesAt: r.ClosesAt, Mode: r.Mode, OpensAt: r.OpensAt, PartyMax: r.PartyMax, //nolint:gosec // rounds of the next centuries
		Proof: r.Proof, RegistersFrom: r.RegistersFrom, VoidAfterMinutes: r.VoidAfter,
	}
}

// proveEntry returns the hashes that lead from an entry to the root of the list. With them anybody
// can check that the entry was on the list when it was closed.
func (h *Handlers) proveEntry(c *route.Call, in *api.ProveQueue) (*api.DrawProof, error) {
	number, err := h.findDraw(c, in.EventID)
	if err != nil {
		return nil, err
	}
	var leaf draw.Hash
	if err := leaf.UnmarshalText([]byte(in.Leaf)); err != nil {
		return nil, route.Invalid(route.Issue{Path: "leaf", Code: route.IssueFormat, Message: "must have 64 hexadecimal digits"})
	}
	p, err := cluster.AskFor[queue.Proof](c.Context, h.Node, engine.QueueRef(number), queue.Prove{Leaf: leaf})
	if err != nil {
		return nil, err
	}
	v := &api.DrawProof{Index: int64(p.Index), Proof: make([]string, len(p.Hashes))}
	for i, hash := range p.Hashes {
		v.Proof[i] = hash.String()
	}
	return v, nil
}

// bringBeacon accepts the signature of a draw's round from anybody. So a draw can go on even if this service
// reaches no relay. It refuses before the room has closed its entries, for a round other than the room's, and for
// a signature that the chain's key does not verify.
func (h *Handlers) bringBeacon(c *route.Call, in *api.BringBeacon) (*api.DrawDocument, error) {
	number, err := h.findDraw(c, in.EventID)
	if err != nil {
		return nil, err
	}
	signature, err := hex.DecodeString(in.Signature)
	if err != nil {
		return nil, route.Invalid(route.Issue{Path: "signature", Code: route.IssueFormat, Message: "must have 96 hexadecimal digits"})
	}
	r, err := h.readRoom(c.Context, number)
	if err != nil {
		return nil, err
	}
	if r.Statement == nil {
		return nil, engine.Refuse(engine.Conflict, queue.NotNow{Reason: r.Phase})
	}
	// The signature is verified here already, so that wrong ones take no time of the actor.
	if s := r.Settings; uint64(in.Round) != s.Rules.Round { //nolint:gosec // at least 1
		return nil, route.Invalid(route.Issue{Path: "round", Code: route.IssueEnum, Message: "is not the round that the rules name"})
	} else if s.Chain.Verify(s.Rules.Round, signature) != nil {
		return nil, route.Invalid(route.Issue{Path: "signature", Code: route.IssueFormat, Message: "does not verify under the chain's key"})
	}
	record, err := cluster.AskFor[queue.Record](c.Context, h.Node, engine.QueueRef(number), queue.Bring{Signature: signature})
	if err != nil {
		return nil, err
	}
	h.Pages.Forget(roomKey(number))
	return h.documentView(&room{Record: record, token: r.token}), nil
}

package acts

import (
	"boxoffice/engine"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/engine/wallet"
)

// openIssues lets the organization of a show pay money into its wallet and issue tickets itself. It issues more than
// the wallet can pay fees for, so that some orders are refused.
func (s *Script) openIssues(sh *show) {
	if !s.fates.on {
		return
	}
	purse := engine.WalletRef(0, "USD") // the wallet of the organization of all shows, which is number 0 here
	for range s.fates.IntN(3) {
		s.credits++
		var id wallet.EntryID
		// A credit has an id of its own, so that a repeat of the command credits nothing more.
		id[0], id[15] = 0xee, s.credits
		credit := wallet.Credit{ID: id, Amount: 1 + s.fates.Int64N(2_000), Reason: "top-up"}
		s.After(s.fates.Int64N(s.load.Span), func() { s.ask(purse, credit, 0, nil) })
	}
	for range s.fates.IntN(12) {
		s.After(second+s.fates.Int64N(s.load.Span), func() { s.issueOrders(sh) })
	}
}

// issueOrders issues one order as the organization, or several complimentary orders in one command.
func (s *Script) issueOrders(sh *show) {
	if len(sh.types) == 0 || sh.dates != nil {
		return
	}
	var all []ledger.Place
	comp := s.fates.chance(.3)
	for range 1 + s.fates.IntN(3) {
		p := s.newPlace(sh)
		p.Client, p.Issue = 0, &order.Issue{Reference: "r", Comp: comp}
		typ := sh.types[s.fates.IntN(len(sh.types))]
		p.Lines = []order.Line{{Type: typ.ID, Quantity: 1 + s.fates.Int64N(8)}}
		s.places[p.Order] = append(s.places[p.Order], &p)
		all = append(all, p)
		// Only complimentary orders are made several at once.
		if !comp {
			break
		}
	}
	for range 1 + s.fates.IntN(2) { // At times it is sent twice, and must be issued once.
		s.After(s.fateIn(3), func() {
			if comp {
				s.ask(sh.ref, ledger.PlaceAll{Orders: all}, 1+s.fates.IntN(4), nil)
				return
			}
			s.ask(sh.ref, all[0], 1+s.fates.IntN(4), nil)
		})
	}
}

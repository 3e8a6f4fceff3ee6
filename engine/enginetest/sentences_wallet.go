package enginetest

import (
	"fmt"

	"boxoffice/engine/wallet"
)

// sayWallet reads what a wallet is told. The name of a movement stands for its id.
//
//	wallet hears Credit gig Amount=20.00 Pending=yes     wallet hears Clear gig     wallet hears Void gig
//	wallet hears Debit fee Amount=0.60 Reason=payout     wallet is read
func (w *story) sayWallet(c *character, verb string, args []string) error {
	if verb != "hears" {
		return w.tell(c, wallet.Get{})
	}
	if len(args) < 2 {
		return fmt.Errorf("%v of which movement?", args)
	}
	// Movements are numbered together with the orders of the story, because their ids have the same form.
	id := w.order(args[1])
	switch args[0] {
	case "Credit":
		m := wallet.Credit{ID: id}
		if err := w.set(&m, args[2:]); err != nil {
			return err
		}
		return w.tell(c, m)
	case "Debit":
		m := wallet.Debit{ID: id}
		if err := w.set(&m, args[2:]); err != nil {
			return err
		}
		return w.tell(c, m)
	case "Clear":
		return w.tell(c, wallet.Clear{ID: id})
	case "Void":
		return w.tell(c, wallet.Void{ID: id})
	default:
		return fmt.Errorf("nobody says %s", args[0])
	}
}

// showEntry writes an entry of a wallet's account.
func (w *story) showEntry(e *wallet.Entry) string {
	s := fmt.Sprintf("%d: %s %s %s", e.Number, e.Kind, w.OrderName(e.ID), amount(e.Amount))
	if e.Reason != "" {
		s += " for " + e.Reason
	}
	return fmt.Sprintf("%s, balance %s, pending %s", s, amount(e.Balance), amount(e.Pending))
}

// showWallet writes a wallet's state.
func showWallet(r *wallet.Record) string {
	return fmt.Sprintf("balance %s, pending %s, %s paid out, %d entries", amount(r.Balance), amount(r.Pending), amount(r.LifetimePayout), r.Entries)
}

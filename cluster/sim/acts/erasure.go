package acts

import (
	"fmt"

	"boxoffice/engine/event"
	"boxoffice/engine/order"
)

// forgetPerson asks a show to erase a person. The command must bring all orders of the show that name the person,
// because the ledger forgets orders that have ended. The edge takes them from the read model, and here they come from
// the judge.
func (s *Script) forgetPerson(sh *show, email string) {
	s.erasures++
	customer := order.CustomerOf(email)
	erase := event.Erase{Customer: customer, Pseudonym: order.Pseudonym(fmt.Sprintf("p%d", s.erasures)), Orders: s.truth.OrdersNaming(sh.ref.Home, customer)}
	s.ask(sh.ref, erase, 1+s.fates.IntN(3), nil)
}

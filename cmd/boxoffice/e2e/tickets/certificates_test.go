package tickets

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// learns completes a course of one unit, and is the answer.
func learns(s *nodetest.Shop, path string) nodetest.Answer {
	return s.Own("POST", path+"/complete", nil)
}

// TestOneCertificatePerTicket earns a certificate by a ticket and passes the ticket on, before and
// after, with the offer made before the certificate was earned, and at the same time: a ticket never
// has two valid certificates, and one that has earned a certificate stays where it is.
func TestOneCertificatePerTicket(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, path := enrolled(t, s, unified(nodetest.Object{"certificateTemplate": "cert-1"}))
	ticketType := s.Call("GET", "/events/"+strings.TrimPrefix(path, "/courses/"), nil).Is(200, "").Str("ticketTypes.0.id")
	buy := func(email string) (*nodetest.Shop, string) {
		o := s.Call("POST", "/orders", nodetest.OrderBody(email, ticketType, 1)).Is(201, "")
		return s.Buyer(email), o.Str("tickets.0.id")
	}
	earned := nodetest.Object{"reason": "certificate"}
	offer := func(from *nodetest.Shop, ticket, to string) nodetest.Answer {
		return from.Own("POST", "/tickets/"+ticket+"/transfer", nodetest.Object{"toEmail": to, "toName": "Next"})
	}
	claim := func(token string) nodetest.Answer { return s.Call("POST", "/tickets/transfers/"+token+"/claim", nil) }
	valid := func(number string) any {
		return s.Call("GET", "/public/certificates/"+number, nil).Is(200, "").Data("valid")
	}

	t.Log("offered, then earned")
	ada, ticket := buy("ada@example.org")
	began := time.Now()
	offer(ada, ticket, "bob@example.org").Is(201, "")
	token := s.ClaimToken("bob@example.org", began)
	number := learns(ada, path).Is(200, "").Str("certificate.number")
	claim(token).Refused(409, "TICKET_NOT_TRANSFERABLE", earned)
	ada.Own("DELETE", "/tickets/"+ticket+"/transfer", nil).Is(200, "")
	offer(ada, ticket, "bob@example.org").Refused(409, "TICKET_NOT_TRANSFERABLE", earned)
	require.Equal(t, true, valid(number))

	t.Log("passed on, then earned: by the next holder alone")
	carl, ticket := buy("carl@example.org")
	began = time.Now()
	offer(carl, ticket, "dora@example.org").Is(201, "")
	claim(s.ClaimToken("dora@example.org", began)).Is(200, "")
	learns(carl, path).Is(403, "NOT_A_BUYER")
	dora := s.Buyer("dora@example.org")
	require.Equal(t, true, valid(learns(dora, path).Is(200, "").Str("certificate.number")))

	t.Log("claimed while it is earned")
	for i := range 5 {
		from, to := fmt.Sprintf("giver%d@example.org", i), fmt.Sprintf("taker%d@example.org", i)
		giver, ticket := buy(from)
		taker := s.Buyer(to)
		began = time.Now()
		offer(giver, ticket, to).Is(201, "")
		token := s.ClaimToken(to, began)
		var both sync.WaitGroup
		var a nodetest.Answer
		both.Go(func() { a = learns(giver, path) })
		both.Go(func() { claim(token) })
		both.Wait()
		numbers := []string{}
		for _, a := range []nodetest.Answer{a, learns(taker, path)} {
			if a.Status == 200 && a.Data("certificate") != nil {
				numbers = append(numbers, a.Str("certificate.number"))
			}
		}
		good := 0
		for _, n := range numbers {
			if valid(n) == true {
				good++
			}
		}
		require.Equal(t, 1, good, "%v", numbers)
	}

	t.Log("a release before has given the ticket's next holder another: the first holds")
	_, err := s.Pool().Exec(t.Context(), `INSERT INTO course_certificates (number, event, holder, ticket, name, title, organization, template, issued_at)
		SELECT 'BX-SECOND', event, 'next@example.org', ticket, name, title, organization, template, issued_at + interval '1 second' FROM course_certificates WHERE number = $1`, number)
	require.NoError(t, err)
	require.Equal(t, []any{true, false}, []any{valid(number), valid("BX-SECOND")})
}

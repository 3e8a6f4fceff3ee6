package limit

import (
	"boxoffice/edge/route"
)

// guessMegabytes is the memory of the counts of wrong guesses.
const guessMegabytes = 2

// Guesses counts wrong guesses of short secrets on a node. All rows that read such a secret share its counts, so that a
// caller who has used up the guesses on one row has none left on the others. Any goroutine may call its methods.
type Guesses struct {
	table *Table
	scale float64
}

// NewGuesses makes the counts, their limits multiplied by scale.
func NewGuesses(scale float64) *Guesses { return &Guesses{New(guessMegabytes), scale} }

// Guess names one count to which a guess is added: that of a rule for a subject.
type Guess struct {
	rule    RateRule
	subject Subject
}

// Of returns the Guess of a rule for a name, such as a network's address.
func (g *Guesses) Of(rule RateRule, name string) Guess {
	return Guess{rule, g.table.Of(rule.Name, name)}
}

// Promo returns the counts to which a guess of a promo code is added: that of the network and, for a caller with an
// account or a key, that of the account or key, because it may be used from many networks.
func (g *Guesses) Promo(c *route.Call) []Guess {
	counts := []Guess{g.Of(RuleNetPromos, route.Network(c.Client).String())}
	if c.Principal.Proven() {
		counts = append(counts, g.Of(RulePromos, CredentialName(&c.Principal)))
	}
	return counts
}

// Take counts a guess as wrong, or returns a refusal if there were too many; then the caller must not look at the
// guess. The caller must call GiveBack if the guess was right, or if it did not look at the guess.
func (g *Guesses) Take(c *route.Call, counts []Guess) error {
	for i, one := range counts {
		if v := g.table.TakeWithin(one.subject, Scale(one.rule.Most, g.scale), one.rule.Span, c.Now); !v.Allowed {
			g.GiveBack(c, counts[:i]) // nobody looks at this guess
			return Refuse(c.Op.Tier, v)
		}
	}
	return nil
}

// GiveBack removes a guess that Take has counted.
func (g *Guesses) GiveBack(c *route.Call, counts []Guess) {
	for _, one := range counts {
		g.table.ReturnWithin(one.subject, Scale(one.rule.Most, g.scale), one.rule.Span, c.Now)
	}
}

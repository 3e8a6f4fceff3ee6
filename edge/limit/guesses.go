package limit

import (
	"boxoffice/edge/route"
)

// guessMegabytes is the memory of the counts of wrong guesses.
const guessMegabytes = 2

// Guesses counts wrong guesses of short secrets on a node. Every row that reads such a secret takes
// its guess from here, so that whoever has used up the guesses at one door finds the others closed.
// Any goroutine may call its methods.
type Guesses struct {
	table *Table
	scale float64
}

// NewGuesses makes the counts, their limits multiplied by scale.
func NewGuesses(scale float64) *Guesses { return &Guesses{New(guessMegabytes), scale} }

// Guess is one count that a guess is in: of a rule, for a subject.
type Guess struct {
	rule    RateRule
	subject Subject
}

// Of is the count of a rule for a name.
func (g *Guesses) Of(rule RateRule, name string) Guess {
	return Guess{rule, g.table.Of(rule.Name, name)}
}

// Promo are the counts that a guess of a promo code is in: the counts of the network, and of the account
// or key, which may come from many networks.
func (g *Guesses) Promo(c *route.Call) []Guess {
	counts := []Guess{g.Of(RuleNetPromos, route.Network(c.Client).String())}
	if c.Principal.Proven() {
		counts = append(counts, g.Of(RulePromos, CredentialName(&c.Principal)))
	}
	return counts
}

// Take counts a guess as a wrong one, or returns why it may not be looked at. A caller that finds that the
// guess was right, or looks at none, gives it back.
func (g *Guesses) Take(c *route.Call, counts []Guess) error {
	for i, one := range counts {
		if v := g.table.TakeWithin(one.subject, Scale(one.rule.Most, g.scale), one.rule.Span, c.Now); !v.Allowed {
			g.GiveBack(c, counts[:i]) // nobody looks at this guess
			return Refuse(c.Op.Tier, v)
		}
	}
	return nil
}

// GiveBack takes a counted guess back.
func (g *Guesses) GiveBack(c *route.Call, counts []Guess) {
	for _, one := range counts {
		g.table.ReturnWithin(one.subject, Scale(one.rule.Most, g.scale), one.rule.Span, c.Now)
	}
}

package limit

import (
	"boxoffice/edge/route"
)

// guessMegabytes is the memory for the counts of wrong guesses, in megabytes.
const guessMegabytes = 2

// Guesses counts wrong guesses of short secrets on a node. All operations that read the same sort
// of secret count in the same Guesses, so that a caller who has used up the guesses at one
// operation cannot go on guessing at another. It also counts some other things that a caller may do only a limited
// number of times, by rules such as RuleTransfers. Any goroutine may call its methods.
type Guesses struct {
	table *Table
	scale float64
}

// NewGuesses makes empty counts. scale multiplies the limits of all rules.
func NewGuesses(scale float64) *Guesses { return &Guesses{New(guessMegabytes), scale} }

// Guess is one of the counts in which a guess counts: the count of a rule, for one subject.
type Guess struct {
	rule    RateRule
	subject Subject
}

// Of returns the count of a rule for the subject with a name, such as a network or a credential.
func (g *Guesses) Of(rule RateRule, name string) Guess {
	return Guess{rule, g.table.Of(rule.Name, name)}
}

// Promo returns the counts for a guess of a promo code: the count of the caller's network and, if the caller
// has proven one, of the account or API key, because one account may use many networks.
func (g *Guesses) Promo(c *route.Call) []Guess {
	counts := []Guess{g.Of(RuleNetPromos, route.Network(c.Client).String())}
	if c.Principal.Proven() {
		counts = append(counts, g.Of(RulePromos, CredentialName(&c.Principal)))
	}
	return counts
}

// Take counts a guess as wrong in all counts. If one of the limits is reached, it counts nothing and
// returns a refusal; then the caller must neither check the guess nor call GiveBack. After a guess
// that Take has counted, the caller calls GiveBack if the guess turns out to be right or can't be
// checked.
func (g *Guesses) Take(c *route.Call, counts []Guess) error {
	for i, one := range counts {
		if v := g.table.TakeWithin(one.subject, Scale(one.rule.Most, g.scale), one.rule.Span, c.Now); !v.Allowed {
			g.GiveBack(c, counts[:i]) // the caller does not check this guess
			return Refuse(c.Op.Tier, v)
		}
	}
	return nil
}

// GiveBack takes back a guess that Take has counted.
func (g *Guesses) GiveBack(c *route.Call, counts []Guess) {
	for _, one := range counts {
		g.table.ReturnWithin(one.subject, Scale(one.rule.Most, g.scale), one.rule.Span, c.Now)
	}
}

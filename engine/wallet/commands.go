package wallet

// These are the commands of a wallet. Those with an ID are answered by *Reply; a repeat gets the same entry as
// long as the movement is remembered. A Credit or Debit with a known ID and other content is refused as
// IDEMPOTENCY_KEY_REUSED. The edge bounds the length of the texts.
type (
	// Credit adds money, or pending money, which a Clear or a Void ends.
	Credit struct {
		ID        EntryID
		Amount    int64 // minor units
		Pending   bool
		Reason    string
		Reference string
		Note      string
		By        string
	}
	// Debit takes money that is available.
	Debit struct {
		ID        EntryID
		Amount    int64  // minor units
		Reason    string // why the money leaves; money with the reason Payout counts as paid out
		Reference string
		Note      string
		By        string
	}
	// Clear makes a pending credit available.
	Clear struct {
		ID EntryID // id of the pending credit
		By string
	}
	// Void ends a pending credit for which no money comes.
	Void struct {
		ID EntryID // id of the pending credit
		By string
	}
	// Get reads the wallet. It is answered by *Record.
	Get struct{}
)

// Command makes the types above commands (engine.Command).
func (Credit) Command() {}
func (Debit) Command()  {}
func (Clear) Command()  {}
func (Void) Command()   {}
func (Get) Command()    {}

// Reply is the entry that a command made, now or when it was first sent, and the wallet as it is
// now.
type Reply struct {
	Wallet Record
	Entry  Entry
	Known  bool // whether the command was sent before
}

// The details of refusals (docs/rules.md, Errors).
type (
	// Funds is the detail of INSUFFICIENT_FUNDS. Amounts are decimals.
	Funds struct {
		Currency  string `json:"currency"`
		Required  string `json:"required"`
		Available string `json:"available"`
	}
	// Range is the detail of an amount that is out of bounds.
	Range struct {
		Min string `json:"min"`
		Max string `json:"max"` // decimal amount that the wallet still takes; if it is below Min, the wallet takes nothing
	}
	// Ended is the detail of CONFLICT: the movement's kind, which is no longer pending.
	Ended struct {
		Kind string `json:"kind"`
	}
)

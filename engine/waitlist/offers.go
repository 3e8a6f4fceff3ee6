package waitlist

const minuteMillis = 60_000

// These bound the offers to an address that has let offers pass, in minutes: the next one, and all
// after that.
const (
	secondOfferMinutes = 60
	laterOfferMinutes  = MinOfferMinutes
)

// shareOfRest is which part of the time until the event an offer may last: if those who come first
// let theirs pass, there must be time for the next.
const shareOfRest = 10

// OfferMillis returns for how many milliseconds an entry keeps what it is offered now, for an event
// that begins at a time. That is OfferMinutes, but less if the address has let offers pass, and at
// most a tenth of the time that is left. The tenth makes it no shorter than MinOfferMinutes.
func (l *Line) OfferMillis(e *Entry, now, begins int64) int64 {
	minutes := l.OfferMinutes
	switch l.countPassed(e.Customer) {
	case 0:
	case 1:
		minutes = min(minutes, secondOfferMinutes)
	default:
		minutes = min(minutes, laterOfferMinutes)
	}
	return min(minutes*minuteMillis, max((begins-now)/shareOfRest, MinOfferMinutes*minuteMillis))
}

// countPassed counts the offers that a customer has not taken, of those that are remembered.
func (l *Line) countPassed(customer uint64) (n int) {
	for _, e := range l.entries {
		if e.Customer == customer && e.OfferedAt != 0 && !e.alive() && e.Status != StatusClaimed {
			n++
		}
	}
	return n
}

// countNetwork counts the entries of a network that wait, are offered something, or have let it run
// out.
func (l *Line) countNetwork(client uint64) (n int64) {
	if l == nil {
		return 0
	}
	for _, e := range l.entries {
		if e.Client == client && (e.alive() || e.Status == StatusExpired) {
			n++
		}
	}
	return n
}

package waitlist

const minuteMillis = 60_000

// An offer to an address that has let one offer pass lasts secondOfferMinutes at most; after more of them, it lasts
// laterOfferMinutes at most. An address that never claims must not hold up the line.
const (
	secondOfferMinutes = 60
	laterOfferMinutes  = MinOfferMinutes
)

// shareOfRest bounds an offer: it may last for the time until the event, divided by shareOfRest. If
// the first in line let their offers pass, there must be time for the next ones.
const shareOfRest = 10

// OfferMillis returns for how many milliseconds an entry keeps what it is offered now, for an event
// that begins at a time (unix milliseconds). That is OfferMinutes at most, less if the address has
// let offers pass, and at most a tenth of the time that is left. The tenth never makes it shorter
// than MinOfferMinutes.
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

// countPassed counts the offers that a customer has let pass, among the entries that are
// remembered.
func (l *Line) countPassed(customer uint64) (n int) {
	for _, e := range l.entries {
		if e.Customer == customer && e.OfferedAt != 0 && !e.alive() && e.Status != StatusClaimed {
			n++
		}
	}
	return n
}

// countNetwork counts the entries of a network that wait, are offered something, or have let an
// offer run out.
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

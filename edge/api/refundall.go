package api

// RefundAll has the money of all paid orders of an event go back.
type RefundAll struct {
	ID     string `path:"id" format:"id" maxLength:"128"`
	Reason string `json:"reason" required:"true" minLength:"1" maxLength:"2000" example:"The venue is closed." description:"Why; the buyers read it."`
}

// RefundRun is how far that has come.
type RefundRun struct {
	EventID    string `json:"eventId" description:"The event's id, a UUID."`
	Status     string `json:"status" enum:"running,finished" description:"running until all orders were looked at, then finished."`
	Reason     string `json:"reason" description:"Why the money goes back."`
	Total      int64  `json:"total" description:"Paid orders of the event when it began."`
	Refunded   int64  `json:"refunded" description:"Orders so far whose money goes back."`
	Skipped    int64  `json:"skipped" description:"Orders so far without money to give back, or with a ticket that was used."`
	StartedAt  Time   `json:"startedAt" description:"When it began."`
	FinishedAt Time   `json:"finishedAt" description:"When it ended; null while it runs."`
}

package api

// RefundAll starts a run that refunds all paid orders of an event. The run skips an order that can't be
// refunded, such as one with a ticket that was used.
type RefundAll struct {
	ID     string `path:"id" format:"id" maxLength:"128"`
	Reason string `json:"reason" required:"true" minLength:"1" maxLength:"2000" example:"The venue is closed." description:"Why; the buyers read it."`
}

// RefundRun says how far a run that RefundAll started has come.
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

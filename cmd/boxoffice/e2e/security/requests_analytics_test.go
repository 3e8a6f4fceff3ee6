package security

// analyticsRequests are those that add up what was sold.
func (w *world) analyticsRequests() map[string]func() request {
	return map[string]func() request{
		"getEventAnalytics":   func() request { return naming("id", w.eventID) },
		"getAnalyticsSummary": w.ours,
	}
}

package api

import "time"

// GetLimits asks how much of their limits an organization and its API keys have left.
type GetLimits struct {
	OrgID string `path:"orgId" format:"id" maxLength:"128"`
}

// LimitsLeft says how much of its rate limits and its storage quotas an organization has left.
type LimitsLeft struct {
	Rates  []RateLeft  `json:"rates" description:"Requests a minute, on the node that answers: first of all keys of the organization together, then of each key that works."`
	Quotas []QuotaLeft `json:"quotas" description:"What the organization may store, on all nodes."`
}

// RateLeft says how many requests of one tier a key, or an organization with all its keys, may still send
// now.
type RateLeft struct {
	KeyID     *string   `json:"keyId" description:"The number of the key; null for all keys of the organization together."`
	Tier      string    `json:"tier" enum:"public,strict,admin" description:"The group of operations that share the rate; each operation of this document names its own."`
	Limit     int       `json:"limit" description:"The most requests in a minute, and at once."`
	Remaining int       `json:"remaining" description:"How many requests would be served now."`
	ResetsAt  time.Time `json:"resetsAt" description:"When all of them are there again, if none is sent."`
}

// QuotaLeft says how many bytes of one quota an organization has used.
type QuotaLeft struct {
	Name     string `json:"name" enum:"written_today,files" description:"written_today are the bytes that the organization has had written since midnight UTC, files those of its uploaded files."`
	Limit    int64  `json:"limit" description:"The most, in bytes."`
	Used     int64  `json:"used" description:"What is used, in bytes."`
	ResetsAt Time   `json:"resetsAt" description:"When it starts again at zero; null if it never does."`
}

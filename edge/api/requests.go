package api

import "time"

// ListRequests asks for the requests of an organization's API keys, the newest first.
type ListRequests struct {
	OrgID  string    `path:"orgId" format:"id" maxLength:"128"`
	KeyID  string    `query:"keyId" maxLength:"40" description:"Only requests of the key of this number."`
	Route  string    `query:"route" maxLength:"200" example:"/api/v1/organizer/events" description:"Only requests of this route, as the paths of this document are written."`
	Status string    `query:"status" maxLength:"3" example:"4xx" description:"Only requests that were answered with this status, 404, or with one of this class, 4xx."`
	From   time.Time `query:"from" dateOnly:"start" description:"Only requests of this time or later; a date (2026-01-01) is the start of that day in UTC."`
	To     time.Time `query:"to" dateOnly:"end" description:"Only requests of this time or earlier; a date (2026-01-01) is the end of that day in UTC."`
	Page
}

// LoggedRequest is a request that was sent with an API key of an organization, without its headers and
// bodies.
type LoggedRequest struct {
	RequestID     string    `json:"requestId" description:"The X-Request-Id of its answer."`
	KeyID         string    `json:"keyId" description:"The number of the key that it came with."`
	Method        string    `json:"method" example:"POST" description:"The HTTP method, such as POST."`
	Route         string    `json:"route" example:"/api/v1/orders" description:"The route as the paths of this document are written; /mcp for a message of an agent."`
	Status        int       `json:"status" description:"The HTTP status of the answer."`
	LatencyMS     float64   `json:"latencyMs" description:"Milliseconds from the request's headers to its answer."`
	ClientAddress string    `json:"clientAddress" example:"203.0.113.7" description:"The client's IP address."`
	At            time.Time `json:"at" description:"When it arrived."`
	Kept          bool      `json:"kept" description:"True if getFailedRequest shows its headers and bodies."`
}

// GetFailedRequest asks for the headers and bodies of a request that failed.
type GetFailedRequest struct {
	OrgID     string `path:"orgId" format:"id" maxLength:"128"`
	RequestID string `path:"requestId" format:"id" maxLength:"64" description:"The X-Request-Id of the request's answer."`
}

// FailedRequest has the headers and the body of a request that failed, and the body of its answer.
type FailedRequest struct {
	RequestID string          `json:"requestId" description:"The X-Request-Id of its answer."`
	KeyID     string          `json:"keyId" description:"The number of the key that it came with."`
	Headers   []RequestHeader `json:"requestHeaders" description:"Those of its headers that are no secret and say how it was meant, in this document's order."`
	Request   *KeptBody       `json:"requestBody" description:"Its body; null if it had no JSON."`
	Answer    *KeptBody       `json:"answerBody" description:"The body of its answer; null if that was no JSON."`
}

// RequestHeader is a header of a failed request. Secrets in its value are replaced.
type RequestHeader struct {
	Name  string `json:"name" example:"Content-Type" description:"The header's name."`
	Value string `json:"value" example:"application/json" description:"Its value; credentials in it are replaced by [withheld]."`
}

// KeptBody is the body of a request or an answer as it was kept: without secrets, and cut if it was long.
type KeptBody struct {
	Text string `json:"text" description:"The JSON as it was sent. Secrets, and what the operation does not know, are replaced by [withheld]."`
	Cut  bool   `json:"cut" description:"True if this is only the beginning: it was longer than 16 KiB, or no JSON from here on."`
}

// GetRequestMetrics asks how many requests an organization's API keys have sent in a span of time, and how
// these were answered.
type GetRequestMetrics struct {
	OrgID    string `path:"orgId" format:"id" maxLength:"128"`
	Interval string `query:"interval" enum:"hour,day,week" default:"day" description:"The last hour, the last 24 hours or the last seven days."`
}

// RequestMetrics has figures about the requests of an organization's API keys, in all and by route.
type RequestMetrics struct {
	Interval string         `json:"interval" enum:"hour,day,week" description:"The time that the figures are of: the last hour, 24 hours or seven days."`
	From     time.Time      `json:"from" description:"When that time began."`
	To       time.Time      `json:"to" description:"When it ended: now."`
	Total    RequestFigures `json:"total" description:"The figures of all routes."`
	Routes   []RouteFigures `json:"routes" description:"The figures of each route, the most used first."`
}

// RouteFigures are the figures of the requests to one route.
type RouteFigures struct {
	Method string `json:"method" description:"The HTTP method, such as POST."`
	Route  string `json:"route" description:"The route as the paths of this document are written."`
	RequestFigures
}

// RequestFigures say how many requests there were, how many failed, and how long they took.
type RequestFigures struct {
	Requests     int64   `json:"requests" description:"How many requests were answered."`
	ClientErrors int64   `json:"clientErrors" description:"How many of them with a status of 4xx."`
	ServerErrors int64   `json:"serverErrors" description:"How many of them with a status of 5xx."`
	ErrorRate    float64 `json:"errorRate" description:"The share of both kinds of errors, from 0 to 1."`
	P50MS        float64 `json:"p50Ms" description:"Half of the requests took no more milliseconds than this."`
	P95MS        float64 `json:"p95Ms" description:"95 percent of the requests took no more milliseconds than this."`
	P99MS        float64 `json:"p99Ms" description:"99 percent of the requests took no more milliseconds than this."`
}

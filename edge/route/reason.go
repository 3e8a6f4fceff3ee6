package route

// Reason is the detail of a refusal whose code has several.
type Reason struct {
	Reason string `json:"reason"`
}

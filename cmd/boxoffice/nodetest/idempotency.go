package nodetest

// KeyOne and KeyTwo are two idempotency keys that differ.
const (
	KeyOne = "0190b6c1-0000-4000-8000-000000000001"
	KeyTwo = "0190b6c1-0000-4000-8000-000000000002"
)

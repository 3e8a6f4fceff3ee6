package limit

import (
	"fmt"
	"time"

	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/engine/velocity"
)

// textMegabytes is the memory for the counts of changes, in megabytes.
const textMegabytes = 1

// Texts counts on a node how often organizers change records with long texts, such as an event.
// They are limited (RuleTexts) because each change writes all texts of the record again. Any
// goroutine may call its methods.
type Texts struct {
	table *Table
	scale float64
}

// NewTexts makes empty counts. scale multiplies the limit.
func NewTexts(scale float64) *Texts { return &Texts{New(textMegabytes), scale} }

// Change counts a change of a record, or refuses it with VELOCITY_LIMIT_EXCEEDED and the time after
// which it would be allowed. name identifies the record among those that the operation changes. It
// must be the same however the request spells the record's id.
func (t *Texts) Change(c *route.Call, name ...any) error {
	most := Scale(RuleTexts.Most, t.scale)
	v := t.table.TakeWithin(t.table.Of(c.Op.ID, fmt.Sprint(name...)), most, RuleTexts.Span, c.Now)
	if v.Allowed {
		return nil
	}
	wait := int64((v.Retry + time.Second - 1) / time.Second)
	return &engine.Refusal{
		Code: engine.VelocityLimited, Retry: int(wait),
		Details: velocity.Exceeded{Rule: RuleTexts.Name, Limit: int64(most), WindowSeconds: int64(RuleTexts.Span.Seconds()), RetryAfterSeconds: wait},
	}
}

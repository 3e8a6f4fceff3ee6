package limit

import (
	"fmt"
	"time"

	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/engine/velocity"
)

// textMegabytes is the memory of the counts of changes.
const textMegabytes = 1

// Texts counts on a node how often organizers change things with long texts, because each change writes all of a thing's
// texts again. Any goroutine may call its methods.
type Texts struct {
	table *Table
	scale float64
}

// NewTexts makes the counts, their limit multiplied by scale.
func NewTexts(scale float64) *Texts { return &Texts{New(textMegabytes), scale} }

// Change counts a change of a thing, or refuses it if there were too many. name identifies the thing; it must not be a
// text from the request, in which the same thing can have several spellings.
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

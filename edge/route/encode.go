package route

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json"
)

// Encoding holds the options for every JSON body that we send. With them, equal answers have equal bytes.
var Encoding = json.JoinOptions(json.Deterministic(true))

// appendData appends {"data": out} to buf: the body of a success.
func appendData[Out any](buf *bytes.Buffer, out Out) error {
	buf.WriteString(`{"data":`)
	if a, ok := any(out).(Appender); ok {
		buf.Write(a.AppendJSON(buf.AvailableBuffer()))
	} else if err := json.MarshalWrite(buf, out, Encoding); err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	buf.WriteByte('}')
	return nil
}

package mcp

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"boxoffice/edge/route"
)

// prompt is a job that a person may give an agent by its name. Its text says {argument} where
// an argument stands, and names the tools to use in backquotes.
type prompt struct {
	sdk.Prompt
	text string
	ops  []*route.Op // the operations of the tools that the text names
}

// jobs are the prompts: four jobs that organizers have often.
var jobs = []prompt{
	{
		Prompt: sdk.Prompt{
			Name: "put_event_on_sale", Title: "Put an event on sale", Description: "Makes an event with its tickets, and publishes it once you have seen it.",
			Arguments: []*sdk.PromptArgument{
				{Name: "event", Description: "what it is, where and when: Friday Night, at the Old Mill in Berlin, 20 June from 19 to 23", Required: true},
				{Name: "tickets", Description: "which tickets, how many and for how much: 300 on the floor at 25, 40 on the balcony at 40", Required: true},
			},
		},
		text: `Put an event on sale.
Event: {event}
Tickets: {tickets}

1. Make the draft with ` + "`create_event`" + `. Ask me for what its schema requires and I have not said; guess no date and no time zone.
2. Add each kind of tickets with ` + "`create_ticket_type`" + `. Unless I said otherwise, the sale starts now and ends when the event starts.
3. Read it back with ` + "`get_own_event`" + `, show me title, dates, place, tickets and prices, and wait for my yes: from then on people can buy.
4. Publish it with ` + "`publish_event`" + `, and tell me the address of its page.

Give each write an idempotencyKey of its own.`,
	},
	{
		Prompt: sdk.Prompt{
			Name: "find_order", Title: "Find an order", Description: "Finds somebody's order and says how it stands.",
			Arguments: []*sdk.PromptArgument{
				{Name: "buyer", Description: "what is known: an e-mail address, a name, an order number", Required: true},
				{Name: "event", Description: "the event, if it is known: its title or its id"},
			},
		},
		text: `Find the order of: {buyer}
Event: {event}

1. If I named an event, find its id with ` + "`list_own_events`" + `.
2. Search with ` + "`list_orders`" + `: q takes e-mail address, name or order number. Follow nextCursor until you have seen all that fit.
3. If several fit, show me number, event, date, total and status of each, and ask which one it is.
4. Read it with ` + "`get_own_order`" + `, and tell me its status, what was paid, which tickets it has and what has been refunded.

Change nothing.`,
	},
	{
		Prompt: sdk.Prompt{
			Name: "refund_order", Title: "Refund an order", Description: "Gives money of an order back, once you have seen how much.",
			Arguments: []*sdk.PromptArgument{
				{Name: "order", Description: "its id or its number", Required: true},
				{Name: "reason", Description: "why, as the buyer will read it", Required: true},
				{Name: "amount", Description: "how much, in the order's currency; all that is left if it is not said"},
			},
		},
		text: `Refund an order.
Order: {order}
Reason: {reason}
Amount: {amount}

1. Read the order with ` + "`get_own_order`" + `; of a number, find its id with ` + "`list_orders`" + ` first.
2. Tell me who gets how much of what was paid, and which tickets end by it, and wait for my yes.
3. Refund it with ` + "`refund_order`" + `. Leave the amount out for all that is left. Give the call an idempotencyKey, and repeat it with the same one if its answer was lost: money must not go back twice.
4. See what came of it with ` + "`get_own_order`" + `. A refund that the provider has not reported yet is on its way; one that failed is not, and ` + "`list_refunds`" + ` says why.`,
	},
	{
		Prompt: sdk.Prompt{
			Name: "watch_gates", Title: "Watch the gates", Description: "Says how the admission to an event goes, and what is odd about it.",
			Arguments: []*sdk.PromptArgument{
				{Name: "event", Description: "its title or its id", Required: true},
				{Name: "minutes", Description: "for how long; once if it is not said"},
			},
		},
		text: `Watch the gates of: {event}
Minutes: {minutes}

1. Find the event's id with ` + "`list_own_events`" + `.
2. Read ` + "`get_gate_stats`" + `: how many of how many are in, how many were denied, and at which gates.
3. Tell me in three lines: the share that is in, the pace since you looked last, and each gate that denies far more, or admits far fewer, than the others.
4. Of somebody who stands at a gate and is not let in, ` + "`list_attendees`" + ` says what tickets there are, by name, e-mail address or code.
5. If I said for how long, look again every minute until then. The gates' limits are for the gates: not more often.

Admit nobody yourself.`,
	},
}

var quotedTool = regexp.MustCompile("`([a-z_]+)`")

// addPrompts registers the jobs as prompts of the SDK's server. It returns an error if a job names
// a tool that does not exist.
func (s *Server) addPrompts(server *sdk.Server) error {
	s.prompts = make(map[string]*prompt, len(jobs))
	for _, p := range jobs {
		for _, named := range quotedTool.FindAllStringSubmatch(p.text, -1) {
			t := s.tools[named[1]]
			if t == nil {
				return fmt.Errorf("the prompt %s names the tool %s, which there is not", p.Name, named[1])
			}
			p.ops = append(p.ops, t.op)
		}
		s.prompts[p.Name] = &p
		server.AddPrompt(&p.Prompt, p.answerPrompt)
	}
	return nil
}

// mayGive reports whether the caller may call all tools of a prompt.
func (p *prompt) mayGive(caller *route.Principal) bool {
	return !slices.ContainsFunc(p.ops, func(op *route.Op) bool { return !mayCall(caller, op) })
}

// answerPrompt answers with the text of the prompt, with the caller's arguments filled in. An optional argument
// that is missing reads "not said". A caller who may not call all tools of the prompt gets the error for an
// unknown prompt.
func (p *prompt) answerPrompt(ctx context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	if !p.mayGive(&callerOf(ctx).Principal) {
		return nil, invalidParams(fmt.Sprintf("unknown prompt %q", p.Name)) // the SDK has the same words for an unknown prompt
	}
	var values []string
	for _, a := range p.Arguments {
		value := r.Params.Arguments[a.Name]
		switch {
		case value == "" && a.Required:
			return nil, invalidParams("The prompt needs the argument " + a.Name + ".")
		case value == "":
			value = "not said"
		}
		values = append(values, "{"+a.Name+"}", value)
	}
	text := &sdk.TextContent{Text: strings.NewReplacer(values...).Replace(p.text)}
	return &sdk.GetPromptResult{Description: p.Description, Messages: []*sdk.PromptMessage{{Role: "user", Content: text}}}, nil
}

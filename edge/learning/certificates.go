package learning

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"strings"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/persistence/courses"
)

// getCertificate answers with the learner's certificate as a PDF, which is drawn at each request. A certificate
// that was earned while the learner's name was unknown gets the name now, if it is known by now.
func (h *Handlers) getCertificate(c *route.Call, in *api.CourseID) (*route.Content, error) {
	l, err := h.enroll(c, in.EventID)
	if err != nil {
		return nil, err
	}
	earned, err := h.Courses.Earned(c.Context, l.event.Number, l.holder)
	if err != nil {
		return nil, err
	}
	if earned == nil {
		return nil, &engine.Refusal{Code: engine.NoCertificate}
	}
	// A certificate that was earned without a name has the learner's address in its place.
	if l.name != "" && earned.Name == earned.Holder {
		earned.Name = l.name
		if err := h.Courses.NameCertificate(c.Context, earned.Number, l.name); err != nil {
			return nil, err
		}
	}
	pdf, err := printCertificate(earned, h.BaseURL+"/certificates/"+earned.Number)
	if err != nil {
		return nil, err
	}
	return &route.Content{
		Type: "application/pdf", Name: earned.Number + ".pdf", Size: int64(len(pdf)), Tag: strconv.Quote(earned.Number), At: earned.IssuedAt, Cache: "private, no-store",
		Open: func(_ context.Context, offset, length int64) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(pdf[offset : offset+length])), nil
		},
	}, nil
}

// checkCertificate tells anybody who has a certificate's number if it is valid. It is valid as long
// as the ticket that earned it is valid (issued or checked in) and has no newer certificate.
func (h *Handlers) checkCertificate(c *route.Call, in *api.CertificateNumber) (*api.PublicCertificate, error) {
	c.Computed = true
	earned, err := h.Courses.Certificate(c.Context, in.Number)
	if err != nil {
		return nil, err
	}
	if earned == nil {
		return nil, &engine.Refusal{Code: engine.NotFound, Message: "No such certificate."}
	}
	tickets, err := h.Read.Tickets(c.Context, earned.Event, earned.Ticket, 1)
	if err != nil {
		return nil, err
	}
	live := len(tickets) == 1 && tickets[0].Serial == earned.Ticket && (tickets[0].Status == "issued" || tickets[0].Status == "checked_in")
	valid, err := h.Courses.OfTicket(c.Context, earned.Event, earned.Ticket)
	if err != nil {
		return nil, err
	}
	return &api.PublicCertificate{
		Number: earned.Number, Valid: live && valid != nil && valid.Number == earned.Number, HolderName: publicName(earned), Title: earned.Title, Organization: earned.Organization, IssuedAt: earned.IssuedAt.UTC(),
	}, nil
}

// publicName returns the name that strangers see on a certificate. If the learner's name is
// unknown, the certificate has an e-mail address in its place, and strangers see only the address's
// first letter and its domain. By these they can recognize a person whom they know, but cannot
// write to the address.
func publicName(earned *courses.Certificate) string {
	local, domain, isAddress := strings.Cut(earned.Name, "@")
	if !isAddress || earned.Name != earned.Holder {
		return earned.Name
	}
	first := []rune(local)
	return string(first[:min(1, len(first))]) + "…@" + domain
}

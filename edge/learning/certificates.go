package learning

import (
	"bytes"
	"context"
	"io"
	"strconv"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/engine"
)

// getCertificate answers with the certificate as a PDF.
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
	pdf, err := printCertificate(earned, h.BaseURL+"/api/v1/public/certificates/"+earned.Number)
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

// checkCertificate tells whoever has a certificate's number whether it holds.
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
		Number: earned.Number, Valid: live && valid != nil && valid.Number == earned.Number, HolderName: earned.Name, Title: earned.Title, Organization: earned.Organization, IssuedAt: earned.IssuedAt.UTC(),
	}, nil
}

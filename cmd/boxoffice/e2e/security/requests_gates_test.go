package security

import "boxoffice/cmd/boxoffice/nodetest"

// enrolGate makes a code for a device at an event's gate.
func enrolGate(s *nodetest.Shop, org, event string) nodetest.Answer {
	s.T.Helper()
	return s.Own("POST", "/organizer/integrations/org/"+org+"/gates/enrolments", nodetest.Object{"events": []string{event}, "gateName": "North"}).Is(201, "")
}

// gateRequests are those of the people and devices at the gates.
func (w *world) gateRequests() map[string]func() request {
	code := func() string {
		return w.Call("POST", "/orders", nodetest.OrderBody(w.email(), w.free, 1)).Is(201, "").Str("tickets.0.code")
	}
	enrol := func() nodetest.Answer { return enrolGate(w.Shop, w.orgID, w.eventID) }
	return map[string]func() request{
		"createGateEnrolment": func() request {
			return naming("orgId", w.orgID).with(nodetest.Object{"events": []string{w.eventID}, "gateName": "North", "guests": true, "expiresAt": nil})
		},
		"getGateEnrolment": func() request { return naming("orgId", w.orgID, "enrolmentId", enrol().Str("id")) },
		"listGates":        func() request { return naming("orgId", w.orgID) },
		"enrolGate": func() request {
			return request{perishable: true}.with(nodetest.Object{"code": enrol().Str("code")})
		},
		"checkInManually": func() request {
			return naming("id", w.eventID).with(nodetest.Object{"ticketCode": code(), "gateName": "Desk", "deviceId": "d"})
		},
		"undoCheckIn": func() request {
			typed := nodetest.Object{"ticketCode": code()}
			w.Own("POST", "/checkin/event/"+w.eventID+"/manual", typed).Is(200, "")
			return naming("id", w.eventID).with(typed)
		},
		"scanBatch": func() request {
			scan := nodetest.Object{"ticketCode": code(), "shortCode": nil, "scannedAt": nodetest.Stamp(0), "gateName": "North", "deviceId": "d"}
			return request{
				body: nodetest.Object{"eventId": w.eventID, "scans": []nodetest.Object{scan}},
				ids:  map[string]string{"eventId": kindEvent},
			}
		},
		"getManifest": func() request {
			code()
			return naming("id", w.eventID)
		},
		"watchGates":    func() request { return naming("id", w.eventID) },
		"openLiveToken": func() request { return naming("id", w.eventID) },
		"getGate":       func() request { return naming("id", w.eventID, "gate", "North") },
	}
}

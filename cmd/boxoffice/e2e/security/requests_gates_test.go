package security

import "boxoffice/cmd/boxoffice/nodetest"

// gateRequests are those of the people and devices at the gates.
func (w *world) gateRequests() map[string]func() request {
	code := func() string {
		return w.Call("POST", "/orders", nodetest.OrderBody(w.email(), w.free, 1)).Is(201, "").Str("tickets.0.code")
	}
	return map[string]func() request{
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

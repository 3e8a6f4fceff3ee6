-- One purchase, one certificate: whoever passes a ticket on, or earns a certificate by it, asks for
-- the one that the ticket has earned.
CREATE INDEX course_certificates_ticket ON course_certificates (event, ticket);

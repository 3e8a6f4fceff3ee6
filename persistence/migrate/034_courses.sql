-- What online courses teach, beside their events' records: course.Content.
CREATE TABLE courses (
  event   bigint PRIMARY KEY,
  content jsonb NOT NULL
);

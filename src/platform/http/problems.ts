import { problemsOf } from "../../core/problem.ts";

export const problems = {
  "http.no_credential": [401, "INVALID_TOKEN", "Token is not valid."],
  "http.two_credentials": [400, "INVALID_REQUEST", "The request carries two credentials that disagree; send one."],
  "http.not_yours": [403, "ACCESS_DENIED", "User not authorized."],
  "http.bad_query": [400, "INVALID_REQUEST", "Query parameter %s"],
  "http.bad_body": [400, "INVALID_REQUEST", "%s"],
  "http.bad_form": [400, "INVALID_REQUEST", "%s"],
  "http.two_parts": [400, "INVALID_REQUEST", "The form has two parts named '%s'."],
  "http.unknown_part": [400, "INVALID_REQUEST", "The form has a part named '%s'; it takes %s."],
  "http.file_too_large": [402, "FILE_SIZE_EXCEEDS_LIMIT", "The file is larger than %s bytes."],
  "http.no_room": [503, "UNEXPECTED", "Too many files are being uploaded at once; try again."],
  "http.too_many_bodies": [503, "UNEXPECTED", "Too many large bodies are being sent at once; try again."],
  "http.too_many_own_bodies": [
    429,
    "TOO_MANY_REQUESTS",
    "You are sending more than 64 MiB of bodies at once. Send them one after the other.",
  ],
  "http.bad_url": [400, "INVALID_REQUEST", "The address of the request is malformed."],
  "http.not_http": [400, "INVALID_REQUEST", "The request cannot be read: %s."],
  "http.bad_content_type": [400, "INVALID_REQUEST", "Content type '%s' is not understood here."],
  "http.bad_charset": [400, "INVALID_REQUEST", "Bodies are read as UTF-8; this one says that it is %s."],
  "http.bad_encoding": [
    400,
    "INVALID_REQUEST",
    "Bodies are taken as they are; this one says that it is encoded as %s.",
  ],
  "http.aborted": [400, "INVALID_REQUEST", "The connection ended before the body of the request had come."],
  "http.bad_if_match": [400, "INVALID_REQUEST", "If-Match takes the version that was read, as in If-Match: 3."],
  "http.other_scope": [400, "INVALID_REQUEST", "Field '%s' of the body is %s, and in the query %s; name one scope."],
  "http.no_preflight": [
    400,
    "INVALID_REQUEST",
    "OPTIONS is answered to browsers only: with the headers Origin and Access-Control-Request-Method.",
  ],
  "http.no_route": [404, "RESOURCE_NOT_FOUND", "No resource at %s %s."],
  "http.no_method": [405, "UNSUPPORTED_OPERATION_EXCEPTION", "There is no %s here; this address takes %s."],
  "http.too_many_open": [
    429,
    "TOO_MANY_REQUESTS",
    "You have %s %s open on this server. Close one, or wait for the end of one.",
  ],
  "http.not_taken": [
    429,
    "TOO_MANY_REQUESTS",
    "You have more than 64 MB of answers that you have not read. Read them, or close their connections.",
  ],
  "http.not_taken_in_all": [
    503,
    "UNEXPECTED",
    "This server has more than 256 MB of answers that its clients have not read; try again.",
  ],
  "http.too_many_open_in_all": [503, "UNEXPECTED", "This server has %s %s open; try again."],
  "http.unexpected": [
    500,
    "UNEXPECTED",
    "Something went wrong on the server; its log has the details under correlation id %s.",
  ],
  "http.stopping": [503, "UNEXPECTED", "The server is stopping."],
} as const;

export const problem = problemsOf(problems);

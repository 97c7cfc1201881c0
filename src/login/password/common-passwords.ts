/**
 * What leaked passwords are made of most often, in our own selection: single words, since a password of twelve
 * characters or more is common when it is such words in a row, with digits and signs around them.
 */
export const COMMON: readonly string[] = [
  "password passwort passwd pass word admin administrator root user guest login welcome hello letmein secret default",
  "changeme change test tester testing demo example temp temporary qwerty qwertz qwertyuiop azerty asdf asdfgh asdfghjkl",
  "zxcvbn zxcvbnm monkey dragon football baseball basketball soccer hockey master superman batman shadow sunshine princess",
  "iloveyou love lovely forever trustno computer internet server service system access account company business office",
  "summer winter spring autumn monday friday january december michael jordan jennifer thomas charlie daniel jessica",
  "starwars pokemon whatever freedom cheese coffee flower cookie chocolate banana orange apple google facebook github",
  "docker kubernetes jenkins ansible terraform deploy pipeline production staging devops linux ubuntu debian windows",
  "database postgres postgresql mysql oracle redis mongo abc abcd abcde abcdef xyz correcthorsebatterystaple",
  "123456 1234567 12345678 123456789 1234567890 0987654321 987654321 654321 123123 111111 000000 112233 121212 696969",
  "1q2w3e4r 1qaz2wsx qwe123 abc123 pass123 q1w2e3r4",
].flatMap((line) => line.split(" "));

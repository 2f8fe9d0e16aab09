// Zone features besides data: aliases, moved subtrees, cuts, wildcards, empty names; appended to
// the zone of all types.
const long = (letter: string): string => letter.repeat(60)

const bigCut = Array.from({ length: 13 }, (_, i) => {
  const name = `${String(i).padStart(2, '0')}${'g'.repeat(50)}.bigcut`
  return `bigcut NS ${name}\n${name} A 192.0.2.${i}\n${name} AAAA 2001:db8::${i}\n`
}).join('')

const chain = Array.from({ length: 7 }, (_, i) => `link${i} CNAME link${i + 1}\n`).join('')

const vast = Array.from(
  { length: 30 },
  (_, i) => `vast TXT "${String(i).padStart(3, '0').repeat(20)}"`,
).join('\n')

export const zoneOfAllWays = `
$ORIGIN example.com.
$TTL 3600
${chain}link7 A 192.0.2.70
a1 CNAME a2
a2 CNAME Mail
around CNAME about
about CNAME around
self CNAME self
out CNAME www.example.net.
lost CNAME nowhere
lost2 CNAME lost
toempty CNAME ent
towild CNAME any.wild
tocut CNAME www.sub
tocut2 CNAME sub
todname CNAME a.old
tonx-dname CNAME nowhere.old
toapex CNAME @
*.cn CNAME mail
x.*.inner A 192.0.2.80
*.*.deeper A 192.0.2.81
*.cnout CNAME a.example.net.
*.round CNAME x.round
a.new A 192.0.2.77
a.new AAAA 2001:db8::77
b.new MX 10 mail
c.new CNAME a.new
d.new CNAME a.old
*.star.new TXT covered
old TXT "beside a DNAME"
dn2 DNAME dn3
dn3 DNAME new
dnout DNAME example.net.
dnself DNAME sub.dnself2
dnlong DNAME ${long('a')}.${long('b')}.${long('c')}
dntocut DNAME sub
sub NS ns1.sub
sub NS NS2.Sub
sub NS ns.other
sub NS ns.example.net.
sub NS ns1
ns1.sub A 192.0.2.11
ns1.sub AAAA 2001:db8::11
ns2.sub A 192.0.2.12
other NS ns.other
ns.other A 192.0.2.13
far.down.cut NS ns.example.net.
here NS here
here A 192.0.2.14
noglue NS lost.example.org.
secure NS ns1
secure DS 1 13 2 ${'ab'.repeat(32)}
${bigCut}a.b.c.ent A 192.0.2.20
b.ent TXT "between"
*.w.ent MX 5 mail
host.x.w.ent A 192.0.2.21
*.both A 192.0.2.22
*.both AAAA 2001:db8::22
*.both TXT "star"
below.the.star.both TXT "shields"
x.*.both TXT "below the asterisk"
svc SRV 0 0 443 mail
svc SRV 1 0 443 ns1
svc SRV 2 0 443 nowhere
mx MX 1 ns1
mx MX 2 mail
mx MX 3 a1
wide TXT ${Array.from({ length: 5 }, (_, i) => `"${String(i).repeat(120)}"`).join(' ')}
${vast}
`

// A small zone of static records, for tests of aliases, cuts and subtrees that moved.
const glue = Array.from({ length: 12 }, (_, i) => {
  const name = `${String(i).padStart(2, '0')}${'g'.repeat(40)}.wide`
  return `wide NS ${name}\n${name} A 192.0.2.${i}\n`
}).join('')

export const staticZone = Object.freeze({
  name: 'example.org.',
  text: `$TTL 60
@ SOA ns1 hostmaster 1 3600 600 86400 30
@ NS ns1
ns1 A 192.0.2.53
www A 192.0.2.1
www TXT "hello"
mail MX 10 www
alias CNAME Alias2
alias2 CNAME www
lost CNAME nowhere
out CNAME www.example.net.
round CNAME about
about CNAME round
*.star CNAME www
old DNAME new
host.new A 192.0.2.2
again.new CNAME host.old
long DNAME ${['a', 'b', 'c'].map((letter) => letter.repeat(60)).join('.')}.example.net.
sub NS ns.sub
sub NS ns1
sub DS 1 13 2 ${'ab'.repeat(32)}
ns.sub A 192.0.2.3
tosub CNAME www.sub
${glue}`,
})

export const staticSoa =
  'example.org. 30 IN SOA ns1.example.org. hostmaster.example.org. SERIAL 3600 600 86400 30'

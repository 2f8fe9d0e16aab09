// `gslbd license`: generates a vendor's key pair, issues tokens, shows a token.
import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { tiers, tokenTiers } from '#licence/tiers.ts'
import type { TokenTier } from '#licence/tiers.ts'
import {
  formatVendorKey,
  issueToken,
  parseVendorKey,
  readToken,
  unverifiedPayload,
} from '#licence/token.ts'
import type { LicencePayload } from '#licence/token.ts'
import { systemClock } from '#lib/clock.ts'
import {
  CommandFault,
  commandLine,
  Exit,
  needed,
  UsageError,
  variable,
  wholeNumber,
} from '#system/process/command.ts'
import { writeKeyPair } from '#cli/files/key-pair.ts'
import type { Command, Io, ValuesOf } from '#system/process/command.ts'
import { readSigningKey } from '#gitops/trust/key-files.ts'

const usage = `Usage: gslbd license keygen [-o FILE]
       gslbd license issue --key FILE --tier TIER [--max-rps N] [--days N] [--customer TEXT]
                           [--install-id ID]
       gslbd license show [TOKEN] [--public-key KEY]

keygen  makes the key pair of a vendor: FILE (keep it secret) and FILE.pub, and prints the public
        key as license.publicKey takes it
issue   prints a token, for POST /api/v1/license, GSLB_LICENSE_KEY or license.key
show    prints what a token says (default GSLB_LICENSE_KEY) and whether the key has signed it

  -o, --output FILE   where to write the private key (default ./gslbd_vendor_key)
  --key FILE          the vendor's private key, in PEM or in OpenSSH's form
  --tier TIER         ${tokenTiers.join(', ')}
  --max-rps N         DNS queries per second (default 0: those of the tier)
  --days N            the licence ends after so many days (default 365; 0: never)
  --customer TEXT     whose it is
  --install-id ID     the only installation where it counts, as GET /api/v1/license shows it
  --public-key KEY    the vendor's public key (default GSLB_LICENSE_PUBLIC_KEY)

Exit codes: 0 done; 1 a file cannot be written; 2 wrong call; 4 a key cannot be used, or a token is
not by this key.`

const options = {
  output: { type: 'string', short: 'o', default: 'gslbd_vendor_key' },
  key: { type: 'string' },
  tier: { type: 'string' },
  'max-rps': { type: 'string', default: '0' },
  days: { type: 'string', default: '365' },
  customer: { type: 'string', default: '' },
  'install-id': { type: 'string', default: '' },
  'public-key': { type: 'string' },
} as const

export const license: Command = {
  name: 'license',
  usage,
  async run(args, io) {
    const { positionals, values } = commandLine(args, options)
    const [verb, ...rest] = positionals
    if (verb === 'keygen' && rest.length === 0) return keygen(resolve(values.output), io)
    if (verb === 'issue' && rest.length === 0) return issue(values, io)
    if (verb === 'show' && rest.length <= 1) return show(rest[0], values['public-key'], io)
    throw new UsageError('say "keygen", "issue" or "show TOKEN"')
  },
}

function keygen(path: string, io: Io): Exit {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  writeKeyPair(path, pem, formatVendorKey(publicKey))
  io.out(`${formatVendorKey(publicKey)}\n`)
  io.err(`
The private key is in ${path}. Nodes that are to accept its licences need, in gslbd.yaml:

  license: { publicKey: "${formatVendorKey(publicKey)}" }

To issue a licence:

  gslbd license issue --key ${path} --tier enterprise
`)
  return Exit.Ok
}

function issue(values: ValuesOf<typeof options>, io: Io): Exit {
  if (values.key === undefined) throw new UsageError("name the vendor's private key with --key")
  const tier = values.tier as TokenTier | undefined
  if (tier === undefined || !tokenTiers.includes(tier)) {
    throw new UsageError(`--tier is one of ${tokenTiers.join(', ')}`)
  }
  const days = wholeNumber('--days', values.days, 0, 100_000)
  const maxRps = wholeNumber('--max-rps', values['max-rps'], 0, 1_000_000_000)
  const { customer: cid, 'install-id': iid } = values
  if (!/^([0-9a-f]{32})?$/.test(iid)) {
    throw new UsageError('--install-id is 32 hexadecimal digits, as GET /api/v1/license shows it')
  }
  const key = readSigningKey(values.key, 'gslbd license keygen')
  const iat = Math.floor(systemClock.nowMs() / 1_000)
  const exp = days === 0 ? 0 : iat + days * 86_400
  const id = randomBytes(16).toString('hex')
  const payload = { tier, maxRps, iat, exp, id, cid, ...(iid === '' ? {} : { iid }) }
  const { privateKey } = needed(key, Exit.Trust)
  const token = issueToken(payload, privateKey)
  // A token that no node would accept is not issued.
  const checked = readToken(token, createPublicKey(privateKey))
  if (!checked.ok) throw new UsageError(checked.error.message)
  io.out(`${token}\n`)
  return Exit.Ok
}

function show(given: string | undefined, keyText: string | undefined, io: Io): Exit {
  const token = (given ?? variable(io.env, 'GSLB_LICENSE_KEY'))?.trim()
  if (token === undefined) throw new UsageError('give a token, or set GSLB_LICENSE_KEY')
  const key = keyText ?? variable(io.env, 'GSLB_LICENSE_PUBLIC_KEY')
  if (key === undefined) {
    const claimed = needed(unverifiedPayload(token), Exit.Trust)
    io.out(`${lines(claimed)}signature   not checked: no --public-key\n`)
    return Exit.Ok
  }
  const vendorKey = parseVendorKey(key)
  if (!vendorKey.ok) throw new CommandFault(Exit.Trust, `--public-key: ${vendorKey.error}`)
  const read = readToken(token, vendorKey.value)
  if (!read.ok) {
    throw new CommandFault(Exit.Trust, `the token does not count: ${read.error.message}`)
  }
  io.out(`${lines(read.value)}signature   good\n`)
  return Exit.Ok
}

function lines({ tier, maxRps, iat, exp, id, cid, iid }: LicencePayload): string {
  const { membersPerPool, tenants, nodes } = tiers[tier]
  const rows = [
    ['tier', `${tier} (members per pool ${membersPerPool}, tenants ${tenants}, nodes ${nodes})`],
    ['queries/s', maxRps === 0 ? 'those of the tier' : String(maxRps)],
    ['issued', iat === 0 ? 'not said' : dateOf(iat)],
    ['ends', exp === 0 ? 'never' : dateOf(exp)],
    ['id', id],
    ['customer', cid === '' ? 'not said' : cid],
    ['for', iid === undefined ? 'any installation' : `the installation ${iid}`],
  ] as const
  // The token is not verified, so control characters are replaced.
  return rows
    .map(([name, text]) => `${name.padEnd(11)} ${text.replaceAll(/\p{C}/gu, '?')}\n`)
    .join('')
}

function dateOf(seconds: number): string {
  const date = new Date(seconds * 1_000)
  return Number.isNaN(date.getTime()) ? `${seconds} s after 1970` : date.toISOString()
}

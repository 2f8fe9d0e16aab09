// `gslbd bundle`: shows and verifies a bundle file.
import type { Bundle } from '#bundle/format/bundle.ts'
import { layout } from '#bundle/format/format.ts'
import { didYouMean } from '#lib/suggest.ts'
import { openBundleFile, readTrustedKeys } from '#cli/files/bundle-file.ts'
import { bundleAsJson } from '#routing/print/bundle-json.ts'
import { commandLine, Exit, needed, onlyOne, UsageError } from '#system/process/command.ts'
import type { Command } from '#system/process/command.ts'

const usage = `Usage: gslbd bundle inspect FILE
       gslbd bundle verify FILE [--trust FILE]…
       gslbd bundle dump FILE

inspect   prints digest, counts, commit and signature
verify    checks that the file is whole; with --trust, also that one of these keys signed it
dump      prints all that is in it as JSON

  --trust FILE   Ed25519 public key: OpenSSH's form (FILE.pub) or SubjectPublicKeyInfo in PEM;
                 may be given several times

Exit codes: 0 fine; 1 damaged; 2 wrong call or unreadable file; 4 not signed by a trusted key.`

const actions = ['inspect', 'verify', 'dump'] as const

export const bundle: Command = {
  name: 'bundle',
  usage,
  async run(args, io) {
    const { positionals, values } = commandLine(args, { trust: { type: 'string', multiple: true } })
    const [action, ...files] = positionals
    const known = actions.find((name) => name === action)
    if (known === undefined) throw new UsageError(unknownAction(action))
    const path = onlyOne(files, 'give one file')
    if (values.trust !== undefined && known !== 'verify') {
      throw new UsageError('--trust belongs to gslbd bundle verify')
    }
    const trusted =
      values.trust === undefined ? undefined : needed(readTrustedKeys(values.trust), Exit.Usage)
    const opened = openBundleFile(path, trusted)
    if (!opened.ok) throw opened.error
    io.out(print(known, opened.value, trusted !== undefined, path))
    return Exit.Ok
  },
}

function unknownAction(action: string | undefined): string {
  if (action === undefined) return 'say what to do: inspect, verify or dump'
  return `there is no "${action}"${didYouMean(action, actions)}`
}

function print(
  action: (typeof actions)[number],
  bundle: Bundle,
  isTrusted: boolean,
  path: string,
): string {
  switch (action) {
    case 'inspect':
      return inspect(bundle)
    case 'verify':
      return isTrusted
        ? `${path}: whole, signed by key ${signingKeyId(bundle) ?? ''}\n`
        : `${path}: whole; signature not checked (give --trust FILE)\n`
    case 'dump':
      return `${JSON.stringify(bundleAsJson(bundle), null, 2)}\n`
  }
}

function inspect(bundle: Bundle): string {
  const { manifest, counts } = bundle
  const rows: readonly (readonly [string, string | number])[] = [
    ['digest', bundle.digest],
    ['format', manifest.format],
    ['compiler', manifest.compiler],
    ['commit', manifest.commit === '' ? 'none: compiled from a directory' : manifest.commit],
    ['signature', signatureText(bundle)],
    ['bytes', bundle.bytes.length],
    ...Object.entries(counts),
  ]
  return rows.map(([name, value]) => `${name.padEnd(10)} ${value}\n`).join('')
}

function signatureText(bundle: Bundle): string {
  const keyId = signingKeyId(bundle)
  return keyId === undefined ? 'none' : `by key ${keyId}, not checked here`
}

/** Id of the key in the signature block; undefined: the bundle is not signed. */
function signingKeyId({ bytes }: Bundle): string | undefined {
  const block = Buffer.from(bytes.slice(bytes.length - layout.signatureBytes))
  const isSigned = block.toString('latin1', 0, 8) === layout.signatureMagic
  return isSigned ? JSON.stringify(block.toString('latin1', 8, 24)).slice(1, -1) : undefined
}

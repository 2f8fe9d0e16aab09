// `gslbd trust`: edits the signers that this node trusts, and shows what it last accepted.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { AllowedSigner } from '#gitops/trust/allowed-signers.ts'
import { formatPublicKeyLine, parsePublicKeyLine } from '#gitops/trust/openssh-key.ts'
import { statePathOf } from '#gitops/thread/options.ts'
import { emptyState, loadState, saveState } from '#gitops/sync/stored-state.ts'
import { addSigner, listSigners, nodePrincipal, removeSigners } from '#gitops/trust/trust-file.ts'
import { systemClock } from '#lib/clock.ts'
import { CommandFault, commandLine, Exit, needed, UsageError } from '#system/process/command.ts'
import type { Command, Io } from '#system/process/command.ts'
import { checkNodeKey, dataDirOf, holding } from '#cli/files/data-dir.ts'
import { howToBelieve, publicKeyOfNode } from '#process/data/own-key.ts'
import type { OwnKey } from '#process/data/own-key.ts'
import { rotateNodeKey } from '#process/data/rotate-key.ts'

const usage = `Usage: gslbd trust add PRINCIPAL KEY [--may-override] [--data-dir D | --file F]
       gslbd trust list [--data-dir D | --file F]
       gslbd trust remove WHO [--data-dir D | --file F]
       gslbd trust rotate [--data-dir D] [--file F]
       gslbd trust reset [--data-dir D]

add     has the node accept commits signed by KEY, a public key file or "ssh-ed25519 …" itself;
        PRINCIPAL is whose it is, such as an e-mail address
list    shows the accepted keys, and how the key of the node is added where it is none of them
remove  takes keys out of the file: WHO is a principal as "list" shows it (all of its keys), a
        fingerprint "SHA256:…", a public key file or the key itself (whoever has it). What was
        accepted before stays accepted. The last key stays: add another one first.
rotate  gives the node a new key, for what it signs itself: bundles, and commits by the API; stop
        the node first. The new key takes the place of the old one in the file.
reset   forgets the accepted commit after the branch was rewritten on purpose; stop the node first.
        The next start takes the head of the branch when that commit itself is signed.

  --data-dir D   the node's data directory (default GSLB_DATA_DIR, or ./data)
  --file F       the allowed_signers file (default D/allowed_signers)
  --may-override  the key may also say that a change beyond the guardrails is meant; a key that
                 is there already gets the right

A running node notices a changed file by itself.
Exit codes: 0 done; 2 wrong call; 4 the key or the file cannot be used.`

interface Options {
  readonly file: string
  readonly dataDir: string
}

export const trust: Command = {
  name: 'trust',
  usage,
  async run(args, io) {
    const { positionals, values } = commandLine(args, {
      'data-dir': { type: 'string' },
      file: { type: 'string' },
      'may-override': { type: 'boolean' },
    })
    const dataDir = dataDirOf(values, io)
    const options = { dataDir, file: resolve(values.file ?? join(dataDir, 'allowed_signers')) }
    const [verb, ...rest] = positionals
    const mayOverride = values['may-override'] === true
    if (mayOverride && verb !== 'add') throw new UsageError('--may-override is for "add"')
    if (verb === 'add' && rest.length === 2) {
      return add({ principal: rest[0]!, key: rest[1]!, mayOverride }, options, io)
    }
    if (verb === 'list' && rest.length === 0) return list(options, io)
    if (verb === 'reset' && rest.length === 0) return reset(options, io)
    if (verb === 'remove' && rest.length === 1) return remove(rest[0]!, options, io)
    if (verb === 'rotate' && rest.length === 0) return rotate(options, io)
    throw new UsageError('say "add PRINCIPAL KEY", "list", "remove WHO", "rotate" or "reset"')
  },
}

interface AddedKey {
  readonly principal: string
  readonly key: string
  readonly mayOverride: boolean
}

function add({ principal, key, mayOverride }: AddedKey, { file }: Options, io: Io): Exit {
  const folder = dirname(file)
  if (!existsSync(folder)) {
    throw refused(
      `the directory ${folder} does not exist, so no node reads ${file}; name the node's data ` +
        'directory with --data-dir, or the file with --file',
    )
  }
  const publicKeyLine = key.startsWith('ssh-') ? key : readKeyFile(key)
  if (publicKeyLine === undefined) {
    throw refused(
      `${key} is neither a readable file nor a public key that starts with "ssh-ed25519"`,
    )
  }
  const atSeconds = Math.floor(systemClock.nowMs() / 1000)
  const given = { principal, publicKeyLine, mayOverride, atSeconds }
  const added = needed(addSigner(file, given), Exit.Trust)
  if (added === 'present') io.out(`${principal} has this key in ${file} already\n`)
  else io.out(`added to ${file}:\n${added.line}\n`)
  return Exit.Ok
}

/** Only the first line is read, in case a private key was named by mistake. */
function readKeyFile(path: string): string | undefined {
  try {
    const text = readFileSync(path, 'utf8')
    return text.startsWith('ssh-') ? (text.split('\n', 1)[0] ?? '') : readKeyFile(`${path}.pub`)
  } catch {
    return undefined
  }
}

function list({ file, dataDir }: Options, io: Io): Exit {
  if (!existsSync(file)) throw refused(`${file} does not exist; make it with "gslbd trust add"`)
  const signers = signersIn(file)
  for (const { principals, publicKey, namespaces, validAfter, validBefore } of signers) {
    const limits = [
      namespaces === '' ? '' : `for ${namespaces}`,
      Number.isFinite(validAfter) ? `from ${dateOf(validAfter)}` : '',
      Number.isFinite(validBefore) ? `until ${dateOf(validBefore)}` : '',
    ]
    const words = [principals, publicKey.fingerprint, ...limits].filter((word) => word !== '')
    io.out(`${words.join('  ')}\n`)
  }
  if (signers.length === 0) io.err(`${file} lists no Ed25519 key: no commit is accepted\n`)
  const own = publicKeyOfNode(dataDir)
  if (own?.ok === true && !signers.some(({ publicKey }) => isSame(publicKey, own.value))) {
    const words = 'note: the key of this node is not among them, so its API can write nothing'
    io.err(`${words}; if it is to, ${howToBelieve(own.value.line, file)}\n`)
  }
  return Exit.Ok
}

function signersIn(file: string): readonly AllowedSigner[] {
  const signers = listSigners(file)
  if (!signers.ok) throw refused(`${file}: ${signers.error}`)
  return signers.value
}

function remove(who: string, { file, dataDir }: Options, io: Io): Exit {
  if (!existsSync(file)) throw refused(`${file} does not exist: there is nothing to remove`)
  const isMeant = whoIs(who)
  const signers = signersIn(file)
  const meant = signers.filter(isMeant)
  if (meant.length === 0) {
    throw refused(`no key in ${file} is that of "${who}"; "gslbd trust list" shows all`)
  }
  if (meant.length === signers.length) {
    throw refused(`${file} would list no key, and no commit be accepted; add another one first`)
  }
  const { removed } = needed(removeSigners(file, isMeant), Exit.Trust)
  for (const { principals, publicKey } of removed) {
    io.out(`removed from ${file}: ${principals}  ${publicKey.fingerprint}\n`)
  }
  const note = removed.map((signer) => noteOfNode(signer, { file, dataDir }))
  for (const sentence of new Set(note.filter((one) => one !== undefined))) io.out(`${sentence}\n`)
  return Exit.Ok
}

/** Warns about a key that signs API writes, of this node or of another with the file. */
function noteOfNode(
  { principals, publicKey }: AllowedSigner,
  { file, dataDir }: Options,
): string | undefined {
  const own = publicKeyOfNode(dataDir)
  const isOwn = own?.ok === true && isSame(publicKey, own.value)
  if (!isOwn && principals !== nodePrincipal) return undefined
  const line = formatPublicKeyLine(publicKey, 'gslbd node')
  return (
    'note: the API of the node with this key can write nothing now, since nobody believes its ' +
    `commits; to undo it, ${howToBelieve(line, file)}`
  )
}

const isSame = (key: AllowedSigner['publicKey'], own: OwnKey): boolean =>
  own.publicKey.raw.equals(key.raw)

/** A principal, a fingerprint, or a key: its file or its line. */
function whoIs(who: string): (signer: AllowedSigner) => boolean {
  const line = who.startsWith('ssh-') ? who : existsSync(who) ? readKeyFile(who) : undefined
  const key = line === undefined ? undefined : parsePublicKeyLine(line)
  const fingerprint = key?.ok === true ? key.value.publicKey.fingerprint : who
  return ({ principals, publicKey }) =>
    publicKey.fingerprint === fingerprint || (key === undefined && principals === who)
}

async function rotate({ dataDir, file }: Options, io: Io): Promise<Exit> {
  checkNodeKey(dataDir, Exit.Trust)
  // A running node would go on with the key that it has read.
  const rotated = await holding(dataDir, Exit.Trust, () => rotateNodeKey(dataDir, file))
  io.out(`${needed(rotated, Exit.Trust).join('\n')}\n`)
  return Exit.Ok
}

const dateOf = (seconds: number): string => new Date(seconds * 1000).toISOString()

async function reset({ dataDir }: Options, io: Io): Promise<Exit> {
  const path = statePathOf(dataDir)
  if (!isDataDir(dataDir)) {
    const what = existsSync(dataDir) ? 'is no data directory' : 'does not exist'
    const remedy = "name the node's data directory with --data-dir"
    throw refused(`the directory ${dataDir} ${what}; ${remedy}`)
  }
  if (!existsSync(path)) {
    io.out(`${path} does not exist: nothing was accepted yet\n`)
    return Exit.Ok
  }
  // A running node would overwrite this state.
  return await holding(dataDir, Exit.Trust, () => forgetAccepted(path, io))
}

/** Whether it has what a node makes at its first start, or a person before that. */
function isDataDir(path: string): boolean {
  const marks = ['gitops/state.json', 'keys/node.pem', 'config.git', 'allowed_signers']
  return marks.some((mark) => existsSync(join(path, mark)))
}

function forgetAccepted(path: string, io: Io): Exit {
  const state = loadState(path)
  // The seq continues, since nodes refuse one that they have passed.
  const order = state.ok ? state.value : emptyState
  try {
    saveState(path, { ...order, commit: '', tree: '', signer: '', serial: 0, earlier: [] })
  } catch (error) {
    throw refused(`${path} cannot be written: ${(error as Error).message}`)
  }
  const was = state.ok && state.value.commit !== '' ? ` (${state.value.commit})` : ''
  io.out(
    `the accepted commit${was} is forgotten; the next start checks the head of the branch alone\n`,
  )
  return Exit.Ok
}

const refused = (why: string): CommandFault => new CommandFault(Exit.Trust, why)

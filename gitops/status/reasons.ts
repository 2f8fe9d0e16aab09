// The table of reasons why a commit is not taken or the source cannot be reached: cause and remedy.
import type { HoldCode, SourceCode } from './status.ts'

interface ReasonSpec {
  /** `held`: until a person acts; `unreachable`: tried again by itself, with growing pauses. */
  readonly sync: 'held' | 'unreachable'
  /** Cause, in sentences. */
  readonly cause: string
  /** Remedy, in sentences. */
  readonly remedy: string
}

const amend =
  'A signed commit on top does not help: every new commit is checked by itself. Making the ' +
  'commit anew with a signature (git commit --amend -S, git rebase -S) needs a forced push, ' +
  'which the local origin refuses.'

/** Reasons by code. In each case the accepted commit goes on serving. */
export const reasonSpecs: Readonly<Record<HoldCode | SourceCode, ReasonSpec>> = Object.freeze({
  HistoryRewritten: {
    sync: 'held',
    cause:
      'The branch does not contain the commit that was accepted before: it was set back or ' +
      'rewritten. Taken silently, this would let whoever controls the remote bring back an old ' +
      'configuration, however well it is signed.',
    remedy:
      'Push a head that contains the accepted commit (git revert takes changes back). When the ' +
      'rewrite is meant, stop the node, run "gslbd trust reset --data-dir DIR", start it.',
  },
  Unsigned: {
    sync: 'held',
    cause:
      'A commit between the accepted one and the head has neither a signature nor an attestation.',
    remedy: `Run "gslbd attest COMMIT" in a checkout and push the ref that it prints. ${amend}`,
  },
  SignatureRefused: {
    sync: 'held',
    cause:
      'The signature of a commit, or its attestation, is by a key that allowed_signers does not ' +
      'list for this use and time, or does not fit the content.',
    remedy:
      'If the key may be believed, list it with "gslbd trust add". Otherwise vouch for the ' +
      `commit: run "gslbd attest COMMIT" and push the ref that it prints. ${amend}`,
  },
  CommitFatal: {
    sync: 'held',
    cause:
      'While this commit was read, the thread that compiles ended twice, or the process three ' +
      'times. Most likely it needs more memory than the node has: compiling may use 40 % of what ' +
      'the container is limited to.',
    remedy:
      'Push a new commit without its large files. Or give the node more memory and restart it: ' +
      'with more memory, or another version of gslbd, the commit is tried again.',
  },
  TooManyCommits: {
    sync: 'held',
    cause: 'The head brings more than 10,000 commits at once; each would be verified.',
    remedy: 'Push them in smaller steps, or squash them.',
  },
  MalformedCommit: {
    sync: 'held',
    cause:
      'A commit, a tree or a path is one that git itself does not write, or is beyond the ' +
      'limits of size, depth or number.',
    remedy: 'Make the commit anew without what the reason names.',
  },
  SignersUnreadable: {
    sync: 'held',
    cause:
      'The allowed_signers file of the node is missing, cannot be read, is empty or has an ' +
      'error, so no signature can be believed.',
    remedy:
      'Correct what the reason names; "gslbd trust list" shows what is in the file, "gslbd trust ' +
      'add PRINCIPAL PUBKEYFILE" makes or extends it. The node notices the change by itself.',
  },
  CompileFailed: {
    sync: 'held',
    cause: 'The configuration in the commit has errors.',
    remedy:
      'Correct the files in a new commit. "gslbd check DIR" shows the same list before a push, ' +
      'and "gslbd explain CODE" explains each entry.',
  },
  NamesRemoved: {
    sync: 'held',
    cause:
      'A commit removes more than guardrails.removedNames (30 %) of the names and more than one, ' +
      'the last of them, or a zone that has services.',
    remedy:
      'When it is meant, push a signed commit after it: git commit --allow-empty -S -m "Meant ' +
      'as it is" --trailer "Gslb-Override: the reason". Otherwise take it back with ' +
      'git revert. "gslbd check DIR --base REF" says it before a push.',
  },
  GuardrailReached: {
    sync: 'held',
    cause:
      'A commit changes more than guardrails in gslb.yaml permits: names, members of a pool, ' +
      'pools with a member to spare, or the length of TTLs.',
    remedy:
      'When it is meant, push a signed commit after it: git commit --allow-empty -S -m "Meant ' +
      'as it is" --trailer "Gslb-Override: the reason". Otherwise take it back with ' +
      'git revert. When it goes back to what answered within a day, the trailer is ' +
      '"Gslb-Back: COMMIT". "gslbd check DIR --base REF" says it before a push.',
  },
  BranchMissing: {
    sync: 'held',
    cause: 'The repository has no branch of the name in gitops.branch.',
    remedy: 'Push a first commit to it, or set gitops.branch to the branch that is meant.',
  },
  StateUnreadable: {
    sync: 'held',
    cause: 'gitops/state.json in the data directory is damaged: what was accepted is not known.',
    remedy:
      'Restore the file from a backup; or stop the node, run "gslbd trust reset --data-dir DIR", ' +
      'start it. The next head is then checked like a first commit.',
  },
  BadUrl: {
    sync: 'unreachable',
    cause: 'gitops.url or gitops.branch is not one that can be used.',
    remedy: 'Correct the setting that the reason names, and start the node anew.',
  },
  Unauthorized: {
    sync: 'unreachable',
    cause:
      'The Git server answered 401 or 403, or did not let the SSH key in: the credentials are ' +
      'missing or not accepted.',
    remedy:
      'Set GSLB_GITOPS_URL to https://user:token@host/… with a token that may read the ' +
      'repository; for SSH, give the server the public half of gitops.sshKey.',
  },
  HostKeyRefused: {
    sync: 'unreachable',
    cause:
      'The SSH server of the remote has no host key that stands in gitops.knownHosts: it is ' +
      'another server, its key was changed, or it was never pinned.',
    remedy:
      'Ask the operator of the server for the fingerprint of its key; put the line that fits it ' +
      '(ssh-keyscan prints it) into gitops.knownHosts.',
  },
  NotFound: {
    sync: 'unreachable',
    cause: 'The Git server answered 404: no such repository, or one that the token may not see.',
    remedy: 'Check gitops.url and the rights of the token.',
  },
  ServerError: {
    sync: 'unreachable',
    cause: 'The Git server answered 5xx: it has a problem of its own.',
    remedy: 'Look at the Git server; nothing is to be done on the node.',
  },
  TooManyRequests: {
    sync: 'unreachable',
    cause: 'The Git server answered 429: it is asked too often.',
    remedy: 'Raise gitops.poll.',
  },
  ConnectionFailed: {
    sync: 'unreachable',
    cause: 'No connection to the Git server: name, route, port or certificate.',
    remedy: 'Check gitops.url, and the network and the DNS of the machine, as the reason says.',
  },
  Timeout: {
    sync: 'unreachable',
    cause: 'The Git server did not answer in time.',
    remedy: 'Check the network and the Git server.',
  },
  NotGit: {
    sync: 'unreachable',
    cause: 'What answers at gitops.url does not speak as a Git server: often a web page.',
    remedy: 'Give the address that "git clone" takes; it may need a login.',
  },
  ObjectFormat: {
    sync: 'unreachable',
    cause: 'The repository names its objects by SHA-256, and gslbd reads those with SHA-1.',
    remedy:
      'Make a repository with "git init --object-format=sha1", commit the files to it, signed, ' +
      'and set gitops.url to it.',
  },
  TooLarge: {
    sync: 'unreachable',
    cause: 'The answer of the Git server is larger than a node accepts.',
    remedy: 'Keep the configuration in a repository of its own, without large files.',
  },
  Unreadable: {
    sync: 'unreachable',
    cause:
      'The repository or the data directory cannot be read or written, or an object in it is ' +
      'missing or damaged. The mirror of a remote is fetched anew by itself.',
    remedy:
      'Check owner and mode of the data directory. Mend a damaged local origin from any checkout ' +
      'or from a backup: docs/operations/trust.md.',
  },
  DiskFull: {
    sync: 'unreachable',
    cause: 'The file system of the data directory has no space, or the quota is used up.',
    remedy: 'Make room; the node tries again by itself.',
  },
  WorkerFailed: {
    sync: 'unreachable',
    cause: 'The thread that reads the configuration stopped; it is started again by itself.',
    remedy: 'If it goes on, look at the memory of the machine and report the reason.',
  },
  InternalError: {
    sync: 'unreachable',
    cause: 'gslbd itself failed on this commit.',
    remedy: 'Report it with the reason; a changed commit may pass.',
  },
})

// Signing in: password and code, single sign-on, and again when a session has ended.
import { useState } from 'preact/hooks'
import { useAct } from '../api/act.ts'
import { authConfig, me, signIn } from '../api/session.ts'
import { Dialog } from '../parts/dialog.tsx'
import { useFirstField } from '../parts/first-field.ts'
import { Fault } from '../parts/page.tsx'

export function Brand() {
  return (
    <a class="brand" href="#/">
      <img src={icon} alt="" width={28} height={28} />
      gslbd
    </a>
  )
}
const icon = new URL('../icon.svg', import.meta.url).href

export function SignIn() {
  return (
    <div class="door">
      <main class="card" id="main">
        <Brand />
        <h1>Sign in</h1>
        <SignInForm />
      </main>
    </div>
  )
}

/** A dialog over the page, so that unsaved input stays. */
export function SignInAgain() {
  return (
    <Dialog title="Your session has ended" skipsFilled>
      <p>Sign in again to go on. What you have written stays.</p>
      <SignInForm email={me.value?.email ?? ''} />
    </Dialog>
  )
}

function SignInForm({ email: known = '' }: { email?: string }) {
  const [email, setEmail] = useState(known)
  const [password, setPassword] = useState('')
  const [totpCode, setCode] = useState('')
  const [wantsCode, setWantsCode] = useState(false)
  const { isBusy, fault, act } = useAct()
  const [tries, setTries] = useState(0)
  const form = useFirstField(tries)
  const submit = async (): Promise<void> => {
    const isTaken = await act(async () => {
      setWantsCode(await signIn({ email, password, totpCode }))
    })
    if (!isTaken) setCode('')
    setTries((count) => count + 1)
  }
  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <Input label="E-mail" type="email" name="username" value={email} onInput={setEmail} />
      <Input
        {...{ label: 'Password', type: 'password', name: 'current-password' }}
        value={password}
        onInput={setPassword}
      />
      {wantsCode && (
        <Input
          {...{ label: 'Code of your authenticator app', type: 'text', name: 'one-time-code' }}
          value={totpCode}
          onInput={setCode}
          isNumeric
        />
      )}
      <Fault fault={fault} />
      <button type="submit" class="primary" disabled={isBusy}>
        {isBusy ? 'Signing in …' : 'Sign in'}
      </button>
      {authConfig.value?.oidcEnabled === true && (
        <a class="button block" href="/api/v1/auth/oidc/authorize">
          Sign in with single sign-on
        </a>
      )}
    </form>
  )
}

interface InputProps {
  readonly label: string
  readonly type: string
  /** Value for `autocomplete`. */
  readonly name: string
  readonly value: string
  readonly isNumeric?: boolean
  readonly hint?: string
  readonly onInput: (value: string) => void
}

export function Input({ label, type, name, value, isNumeric, hint, onInput }: InputProps) {
  return (
    <div class="field">
      <label for={`in-${name}`}>{label}</label>
      <input
        id={`in-${name}`}
        required
        {...{ type: type as 'text', name, value }}
        autocomplete={name}
        {...(isNumeric === true ? { inputMode: 'numeric' as const } : {})}
        {...(hint === undefined ? {} : { 'aria-describedby': `hint-${name}` })}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {hint !== undefined && (
        <p class="hint" id={`hint-${name}`}>
          {hint}
        </p>
      )}
    </div>
  )
}

//! Which code each number has: by form, field and what stands before it.
//!
//! ```text
//! model:   forms(number) form* field(of forms) (field of form)*
//! field:   divided(1) codes(number) (context(number, less the one before) code)*
//! ```

use std::collections::BTreeMap;

use crate::encoding::EncodingError;
use crate::encoding::bits::{BitReader, BitWriter};
use crate::encoding::form::{FIELDS, Field, Form, Numbers};
use crate::encoding::prefix::{Code, Histogram};
use crate::op::Op;

/// A field has a code for each context below this; greater ones share one.
const CONTEXTS: u32 = 255;
const COUNT_ORDER: u32 = 2;

/// What the numbers of a field depend on.
#[derive(Debug, Clone, Copy)]
enum Context {
    /// Nothing but the form.
    Alone,
    /// The field's number in the entry before, of whatever form.
    Before,
    /// The number that was written last in this entry.
    Beside,
}

fn context(field: Field, form: Form) -> Context {
    match field {
        Field::Modulus | Field::Bank => Context::Before,
        // The same rotation many times; constants that belong to a prime.
        Field::Immediate => match form {
            Form::Compute {
                op: Op::AutEval | Op::AutCoeff,
                ..
            } => Context::Before,
            _ => Context::Beside,
        },
        Field::SecondSource | Field::ThirdSource => Context::Beside,
        _ => Context::Alone,
    }
}

/// Addresses rise: what counts is the difference to the one before.
fn is_difference(field: Field) -> bool {
    matches!(field, Field::Address)
}

/// Small numbers for small differences of either sign.
fn fold(difference: u32) -> u32 {
    difference << 1 ^ (difference as i32 >> 31) as u32
}

fn unfold(folded: u32) -> u32 {
    folded >> 1 ^ (folded & 1).wrapping_neg()
}

/// What a sequence of entries remembers.
#[derive(Debug, Clone)]
pub(super) struct History {
    form: u32,
    numbers: Numbers,
}

impl Default for History {
    fn default() -> Self {
        History {
            form: 0,
            numbers: [0; FIELDS],
        }
    }
}

impl History {
    /// The context of a field's number.
    fn context(&self, form: Form, field: Field, beside: u32) -> u32 {
        let context = match context(field, form) {
            Context::Alone => 0,
            Context::Before => self.numbers[field as usize],
            Context::Beside => beside,
        };
        context.min(CONTEXTS)
    }

    /// Visits the fields of an entry: their places, contexts and coded numbers.
    fn each(&self, form: Form, numbers: &Numbers, mut visit: impl FnMut(usize, u32, u32)) {
        let mut beside = 0;
        for (place, field) in form.fields().enumerate() {
            let value = numbers[field as usize];
            let coded = if is_difference(field) {
                fold(value.wrapping_sub(self.numbers[field as usize]))
            } else {
                value
            };
            visit(place, self.context(form, field, beside), coded);
            beside = value;
        }
    }

    fn keep(&mut self, number: u32, form: Form, numbers: &Numbers) {
        self.form = number;
        for field in form.fields() {
            self.numbers[field as usize] = numbers[field as usize];
        }
    }
}

/// Numbers of one field.
#[derive(Debug, Default)]
struct FieldCounts(BTreeMap<u32, Histogram>);

impl FieldCounts {
    fn add(&mut self, context: u32, value: u32) {
        *self.0.entry(context).or_default().entry(value).or_default() += 1;
    }

    /// One code for all contexts, or one for each, whichever is shorter.
    fn codes(self) -> FieldCodes {
        let mut all = Histogram::new();
        for (&value, &count) in self.0.values().flatten() {
            *all.entry(value).or_default() += count;
        }
        let (shared, shared_bits) = Code::of(&all);
        if self.0.len() == 1 {
            return FieldCodes::Shared(shared);
        }
        let mut divided_bits = 0;
        let mut divided = BTreeMap::new();
        for (&context, histogram) in &self.0 {
            let (code, bits) = Code::of(histogram);
            divided_bits += bits + 2;
            divided.insert(context, code);
        }
        if divided_bits < shared_bits {
            FieldCodes::Divided(divided)
        } else {
            FieldCodes::Shared(shared)
        }
    }
}

/// Counts the numbers of entries before their codes are made.
#[derive(Debug, Default)]
pub(super) struct Counts {
    forms: BTreeMap<Form, (u32, Vec<FieldCounts>)>,
    numbers: FieldCounts,
}

impl Counts {
    /// Counts an entry.
    pub(super) fn add(&mut self, history: &mut History, form: Form, numbers: &Numbers) {
        let next = self.forms.len() as u32;
        let (number, fields) = self.forms.entry(form).or_insert_with(|| {
            let fields = form.fields().map(|_| FieldCounts::default());
            (next, fields.collect())
        });
        self.numbers.add(history.form.min(CONTEXTS), *number);
        history.each(form, numbers, |place, context, coded| {
            fields[place].add(context, coded);
        });
        history.keep(*number, form, numbers);
    }

    /// Codes for what was counted.
    pub(super) fn model(self) -> Model {
        let mut forms: Vec<_> = self.forms.into_iter().collect();
        forms.sort_by_key(|&(_, (number, _))| number);
        let forms = forms.into_iter().map(|(form, (_, fields))| {
            let fields = fields.into_iter().map(FieldCounts::codes).collect();
            (form, fields)
        });
        let forms: Vec<_> = forms.collect();
        let numbers = (!forms.is_empty()).then(|| self.numbers.codes());
        Model {
            by_form: (0..).zip(&forms).map(|(k, &(form, _))| (form, k)).collect(),
            forms,
            numbers,
        }
    }
}

/// The codes of one field.
#[derive(Debug)]
enum FieldCodes {
    Shared(Code),
    Divided(BTreeMap<u32, Code>),
}

impl FieldCodes {
    fn of(&self, context: u32) -> Option<&Code> {
        match self {
            FieldCodes::Shared(code) => Some(code),
            FieldCodes::Divided(codes) => codes.get(&context),
        }
    }

    fn put(&self, context: u32, value: u32, out: &mut BitWriter) {
        let code = self.of(context).expect("it was counted");
        code.put(value, out);
    }

    fn get(&self, context: u32, reader: &mut BitReader<'_>) -> Result<u32, EncodingError> {
        match self.of(context) {
            Some(code) => code.get(reader),
            None => Err(reader.unknown("code of context", context.into())),
        }
    }

    fn write(&self, out: &mut BitWriter) {
        match self {
            FieldCodes::Shared(code) => {
                out.put(0, 1);
                code.write(out);
            }
            FieldCodes::Divided(codes) => {
                out.put(1, 1);
                out.number(codes.len() as u32, COUNT_ORDER);
                let mut next = 0;
                for (&context, code) in codes {
                    out.number(context - next, 0);
                    next = context + 1;
                    code.write(out);
                }
            }
        }
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Self, EncodingError> {
        if reader.get(1, "codes of a field")? == 0 {
            return Ok(FieldCodes::Shared(Code::read(reader)?));
        }
        let count = reader.number(COUNT_ORDER, "number of codes")?;
        let mut codes = BTreeMap::new();
        let mut next = 0;
        for _ in 0..count {
            let skipped = reader.number(0, "context")?;
            let context = u64::from(skipped) + u64::from(next);
            if context > u64::from(CONTEXTS) {
                return Err(reader.unknown("context", context));
            }
            next = context as u32 + 1;
            codes.insert(context as u32, Code::read(reader)?);
        }
        Ok(FieldCodes::Divided(codes))
    }
}

/// The codes of all fields of all forms.
#[derive(Debug)]
pub(super) struct Model {
    forms: Vec<(Form, Vec<FieldCodes>)>,
    by_form: BTreeMap<Form, u32>,
    /// Of the forms' numbers; none if there are no forms.
    numbers: Option<FieldCodes>,
}

impl Model {
    /// Writes the model.
    pub(super) fn write(&self, out: &mut BitWriter) {
        out.number(self.forms.len() as u32, COUNT_ORDER);
        for (form, _) in &self.forms {
            form.write(out);
        }
        for codes in self
            .numbers
            .iter()
            .chain(self.forms.iter().flat_map(|(_, c)| c))
        {
            codes.write(out);
        }
    }

    /// Reads what [`Self::write`] wrote, for so many entries.
    pub(super) fn read(reader: &mut BitReader<'_>, entries: u64) -> Result<Self, EncodingError> {
        let count = reader.number(COUNT_ORDER, "number of forms")?;
        // Some entry has each form.
        reader.at_most("forms", count.into(), entries)?;
        let forms: Vec<Form> = (0..count)
            .map(|_| Form::read(reader))
            .collect::<Result<_, _>>()?;
        let numbers = if forms.is_empty() {
            None
        } else {
            Some(FieldCodes::read(reader)?)
        };
        let mut model = Model {
            forms: Vec::with_capacity(forms.len()),
            by_form: BTreeMap::new(),
            numbers,
        };
        for form in forms {
            let codes = form.fields().map(|_| FieldCodes::read(reader));
            let codes = codes.collect::<Result<_, _>>()?;
            model.forms.push((form, codes));
        }
        Ok(model)
    }

    /// Appends an entry that was counted.
    pub(super) fn put(
        &self,
        history: &mut History,
        form: Form,
        numbers: &Numbers,
        out: &mut BitWriter,
    ) {
        let number = self.by_form[&form];
        if let Some(codes) = &self.numbers {
            codes.put(history.form.min(CONTEXTS), number, out);
        }
        let (_, fields) = &self.forms[number as usize];
        history.each(form, numbers, |place, context, coded| {
            fields[place].put(context, coded, out);
        });
        history.keep(number, form, numbers);
    }

    /// The next entry.
    pub(super) fn get(
        &self,
        history: &mut History,
        reader: &mut BitReader<'_>,
    ) -> Result<(Form, Numbers), EncodingError> {
        let Some(codes) = &self.numbers else {
            return Err(reader.unknown("form", 0));
        };
        let number = codes.get(history.form.min(CONTEXTS), reader)?;
        let Some(&(form, ref fields)) = self.forms.get(number as usize) else {
            return Err(reader.unknown("form", number.into()));
        };
        let mut numbers = [0; FIELDS];
        let mut beside = 0;
        for (field, codes) in form.fields().zip(fields) {
            let coded = codes.get(history.context(form, field, beside), reader)?;
            let value = if is_difference(field) {
                history.numbers[field as usize].wrapping_add(unfold(coded))
            } else {
                coded
            };
            numbers[field as usize] = value;
            beside = value;
        }
        history.keep(number, form, &numbers);
        Ok((form, numbers))
    }
}

"""The parsers of the files that UCI publishes, on small files written in the same way."""

import io
import os
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from pmae_core.errors import DatasetUnavailableError
from pmae_core.table.samples.benchmark_tables import BENCHMARKS, check_table, parse_download

DOWNLOADED = [name for name in BENCHMARKS if name != "diabetes"]
needs_tables = pytest.mark.skipif(
    "PMAE_DATA_DIR" not in os.environ,
    reason="PMAE_DATA_DIR does not name the folder of the benchmark tables",
)


def zipped(**files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def parse(name, content):
    return parse_download(BENCHMARKS[name], content)


def column_types(frame):
    return {name: str(dtype) for name, dtype in frame.dtypes.items()}


def test_wine_takes_the_red_wines():
    head = ";".join(f'"{name}"' for name in BENCHMARKS["wine"].columns)
    red = f"{head}\n7.4;0.7;0;1.9;0.076;11;34;0.9978;3.51;0.56;9.4;5\n"
    red += "7.8;0.88;0;2.6;0.098;25;67;0.9968;3.2;0.68;9.8;10\n"
    white = f"{head}\n7;0.27;0.36;20.7;0.045;45;170;1.001;3;0.45;8.8;6\n"
    frame = parse("wine", zipped(**{"winequality-white.csv": white, "winequality-red.csv": red}))
    assert len(frame) == 2
    assert frame["citric acid"].tolist() == [0.0, 0.0]
    assert frame["density"].tolist() == [0.9978, 0.9968]
    assert frame["quality"].cat.categories.tolist() == ["5", "10"]


def test_obesity_keeps_the_word_no_and_the_order_of_labels():
    head = ",".join(BENCHMARKS["obesity"].columns)
    rows = [
        "Female,21,1.62,64,yes,no,2,3,Always,no,2,no,0,1,no,Public_Transportation,Obesity_Type_I",
        "Male,23.5,1.8,77,no,no,2,3,no,no,2,no,2,1,Sometimes,Walking,Normal_Weight",
    ]
    csv = "\n".join([head, *rows])
    frame = parse("obesity", zipped(**{"ObesityDataSet_raw_and_data_sinthetic.csv": csv}))
    assert not frame.isna().any(axis=None)
    assert frame["CAEC"].cat.categories.tolist() == ["no", "Always"]
    assert frame["NObeyesdad"].cat.categories.tolist() == ["Normal_Weight", "Obesity_Type_I"]
    assert frame["Age"].tolist() == [21.0, 23.5]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8"])
def test_bike_drops_the_date_and_the_sign_of_degrees(encoding):
    head = (
        "Date,Rented Bike Count,Hour,Temperature(°C),Humidity(%),Wind speed (m/s),"
        "Visibility (10m),Dew point temperature(°C),Solar Radiation (MJ/m2),Rainfall(mm),"
        "Snowfall (cm),Seasons,Holiday,Functioning Day"
    )
    row = "01/12/2017,254,0,-5.2,37,2.2,2000,-17.6,0,0,0,Winter,No Holiday,Yes"
    frame = parse("bike", zipped(**{"SeoulBikeData.csv": f"{head}\n{row}\n".encode(encoding)}))
    assert list(frame) == list(BENCHMARKS["bike"].columns)
    assert frame["Temperature(C)"].tolist() == [-5.2]
    assert frame["Rented Bike Count"].tolist() == [254]
    assert frame["Rainfall(mm)"].dtype == "float64"


def test_shoppers_keep_codes_as_labels_in_numerical_order():
    head = ",".join(BENCHMARKS["shoppers"].columns)
    rows = [
        "0,0,0,0,1,0,0.2,0.2,0,0,Nov,10,1,1,1,Returning_Visitor,FALSE,FALSE",
        "0,0,0,0,2,64,0,0.1,0,0,Feb,2,2,1,2,Other,TRUE,TRUE",
    ]
    frame = parse("shoppers", zipped(**{"online_shoppers_intention.csv": "\n".join([head, *rows])}))
    assert frame["OperatingSystems"].cat.categories.tolist() == ["2", "10"]
    assert frame["Month"].cat.categories.tolist() == ["Feb", "Nov"]
    assert frame["Revenue"].tolist() == ["FALSE", "TRUE"]
    assert column_types(frame)["ProductRelated_Duration"] == "float64"


def test_letter_has_no_header_and_the_target_first():
    rows = "T,2,8,3,5,1,8,13,0,6,6,10,8,0,8,0,8\nI,5,12,3,7,2,10,5,5,4,13,3,9,2,8,4,10\n"
    archive = {"letter-recognition.data.Z": b"\x1f\x9d", "letter-recognition.data": rows}
    frame = parse("letter", zipped(**archive))
    assert frame["lettr"].tolist() == ["T", "I"]
    assert frame["x-box"].tolist() == ["2", "5"]
    assert frame["y-bar"].cat.categories.tolist() == ["5", "13"]


def test_default_gets_its_names_and_labels():
    head = ",".join(["ID", *(f"X{i}" for i in range(1, 24)), "Y"])
    amounts = ",".join(["0"] * 12)
    rows = [
        f"1,20000,2,2,1,24,2,2,-1,-1,-2,-2,{amounts},1",
        f"2,9,1,6,0,30,0,0,0,0,0,0,{amounts},0",
    ]
    frame = parse("default", "\n".join([head, *rows]).encode())
    assert frame.iloc[0, :6].tolist() == [20000, "female", "university", "married", 24, 2]
    assert frame["EDUCATION"].tolist() == ["university", "undocumented 6"]
    assert frame["MARRIAGE"].tolist() == ["married", "undocumented 0"]
    assert frame["default payment next month"].tolist() == ["yes", "no"]


def news_names():
    names = []
    for name in BENCHMARKS["news"].columns:
        if name == "channel":
            ends = ("lifestyle", "entertainment", "bus", "socmed", "tech", "world")
            names += [f"data_channel_is_{end}" for end in ends]
        elif name == "weekday":
            days = BENCHMARKS["news"].columns["weekday"]
            names += [*(f"weekday_is_{day}" for day in days), "is_weekend"]
        else:
            names.append(name)
    return ["url", *names]


def test_news_folds_its_indicators():
    names = news_names()
    first = dict.fromkeys(names, "0.0") | {"url": "http://a", "shares": "593"}
    first |= {"data_channel_is_bus": "1.0", "weekday_is_monday": "1.0", "timedelta": "731.0"}
    second = dict.fromkeys(names, "0.5") | {"url": "http://b", "shares": "7"}
    second |= {name: "0.0" for name in names if "_is_" in name or column_is_int(name)}
    second |= {"weekday_is_sunday": "1.0", "is_weekend": "1.0"}
    lines = [", ".join(names), *(", ".join(row[n] for n in names) for row in (first, second))]
    content = zipped(**{"N/OnlineNewsPopularity.csv": "\n".join(lines)})
    frame = parse("news", content)
    assert list(frame) == list(BENCHMARKS["news"].columns)
    assert frame["channel"].tolist() == ["business", "none"]
    assert frame["weekday"].tolist() == ["monday", "sunday"]
    assert frame["timedelta"].tolist() == [731, 0]
    assert frame["LDA_00"].tolist() == [0.0, 0.5]


def column_is_int(name):
    return BENCHMARKS["news"].columns.get(name) == "int" and name != "shares"


def test_adult_joins_both_parts_and_knows_the_question_mark():
    train = (
        "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, "
        "Male, 2174, 0, 40, United-States, <=50K\n\n"
    )
    test = (
        "|1x3 Cross validator\n"
        "25, ?, 226802, 11th, 7, Never-married, ?, Own-child, Black, Male, 0, 0, 40, ?, >50K.\n"
    )
    frame = parse("adult", zipped(**{"adult.data": train, "adult.test": test, "adult.names": "|"}))
    assert frame["age"].tolist() == [39, 25]
    assert frame["income"].tolist() == ["<=50K", ">50K"]
    assert frame["workclass"].tolist()[0] == "State-gov"
    assert frame.loc[1, ["workclass", "occupation", "native-country"]].isna().all()
    assert frame["education"].cat.categories.tolist() == ["11th", "Bachelors"]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("wine", b"no archive", "not a zip file"),
        ("wine", zipped(**{"readme.txt": "x"}), "no file winequality-red.csv"),
        ("obesity", zipped(**{"a.csv": "x,y\n1,2\n"}), "not as expected"),
        ("default", b"ID,X1\n1,2\n", "not as expected"),
    ],
)
def test_a_changed_file_is_a_sentence(name, content, sentence):
    with pytest.raises(DatasetUnavailableError, match=sentence):
        parse(name, content)


def test_an_unknown_label_is_a_sentence():
    head = ",".join(BENCHMARKS["obesity"].columns)
    row = "Female,21,1.62,64,yes,no,2,3,Rarely,no,2,no,0,1,no,Walking,Obesity_Type_I"
    with pytest.raises(DatasetUnavailableError, match=r"'CAEC' has the unknown labels \['Rarely'"):
        parse("obesity", zipped(**{"o.csv": f"{head}\n{row}\n"}))


def test_a_decimal_where_whole_numbers_stood_is_a_sentence():
    head = ",".join(["ID", *(f"X{i}" for i in range(1, 24)), "Y"])
    cells = ",".join(["1", "0.5", "2", "2", "1", *["0"] * 19, "1"])
    with pytest.raises(DatasetUnavailableError, match="'LIMIT_BAL' holds numbers that are not"):
        parse("default", f"{head}\n{cells}\n".encode())


def test_the_registry_is_complete():
    assert len(BENCHMARKS) == 9
    for info in BENCHMARKS.values():
        assert list(info.columns)[-1] == info.target
        assert info.citation
        assert info.license
        assert (info.url is None) == (info.name == "diabetes")
        assert info.url is None or info.url.startswith(
            f"https://archive.ics.uci.edu/static/public/{info.uci_id}/"
        )
        is_regression = info.roles[info.target] == "numerical"
        assert (info.task == "regression") == is_regression


def as_published(name, frame):
    """Write a benchmark table as UCI publishes it."""
    text = frame.astype({column: object for column in frame.select_dtypes("category")})
    csv = {"index": False, "lineterminator": "\n"}
    if name == "wine":
        return zipped(**{"winequality-red.csv": text.to_csv(sep=";", **csv)})
    if name == "bike":
        text = text.rename(columns=lambda column: column.replace("(C)", "(°C)"))
        return zipped(
            **{"SeoulBikeData.csv": text.assign(Date="x").to_csv(**csv).encode("latin-1")}
        )
    if name == "letter":
        text = text[["lettr", *text.columns[:-1]]]
        return zipped(**{"letter-recognition.data": text.to_csv(header=False, **csv)})
    if name == "default":
        codes = {
            "SEX": {"male": 1, "female": 2},
            "MARRIAGE": {"undocumented 0": 0, "married": 1, "single": 2, "others": 3},
            "EDUCATION": {"graduate school": 1, "university": 2, "high school": 3, "others": 4}
            | {f"undocumented {code}": code for code in (0, 5, 6)},
            "default payment next month": {"no": 0, "yes": 1},
        }
        for column, code in codes.items():
            text[column] = text[column].map(code)
        text.insert(0, "ID", range(1, len(text) + 1))
        names = ["ID", *(f"X{i}" for i in range(1, 24)), "Y"]
        return text.set_axis(names, axis=1).to_csv(**csv).encode()
    if name == "news":
        shorter = {"business": "bus", "social media": "socmed"}
        channel = text["channel"].replace(shorter)
        for column in news_names():
            if column.startswith("data_channel_is_"):
                text[column] = (channel == column.removeprefix("data_channel_is_")) * 1.0
            elif column.startswith("weekday_is_"):
                text[column] = (text["weekday"] == column.removeprefix("weekday_is_")) * 1.0
        text = text.assign(url="u", is_weekend=0.0)[news_names()]
        text = text.rename(columns=lambda column: f" {column}")
        return zipped(**{"OnlineNewsPopularity/OnlineNewsPopularity.csv": text.to_csv(**csv)})
    if name == "adult":
        csv_text = text.to_csv(header=False, na_rep="?", **csv)
        lines = csv_text.replace(",", ", ").splitlines()
        test = ["|1x3 Cross validator", *(f"{line}." for line in lines[32561:]), ""]
        files = {"adult.data": "\n".join(lines[:32561]) + "\n\n", "adult.test": "\n".join(test)}
        return zipped(**files)
    names = {
        "obesity": "ObesityDataSet_raw_and_data_sinthetic.csv",
        "shoppers": "online_shoppers_intention.csv",
    }
    return zipped(**{names[name]: text.to_csv(**csv)})


@needs_tables
@pytest.mark.parametrize("name", DOWNLOADED)
def test_the_whole_published_file_gives_the_benchmark_table(name):
    truth = pd.read_parquet(Path(os.environ["PMAE_DATA_DIR"]) / f"{name}.parquet")
    frame = parse(name, as_published(name, truth))
    check_table(frame, BENCHMARKS[name], "the test")
    pd.testing.assert_frame_equal(frame, truth, check_exact=True)
